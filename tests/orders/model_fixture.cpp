#include "tests/orders/model_fixture.hpp"

#include <cstdlib>

namespace orders::testing {

using model::Asked;
using model::Kind;
using model::Verdict;
using nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr int soak_walks = 60;
constexpr int steps_between_checks = 100;
constexpr int steps_between_follies = 40;

bool is_soak() { return std::getenv("SEMEL_SOAK") != nullptr; }

std::string command_to_repeat(std::uint64_t seed) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    return "SEMEL_SEED=" + std::to_string(seed) + " build/bin/orders_model_pgtest --gtest_filter='" +
           test->test_suite_name() + "." + test->name() + "'";
}

}  // namespace

std::vector<std::uint64_t> OrdersModelTest::fixed_seeds(const std::vector<std::uint64_t>& seeds) {
    const char* seed = std::getenv("SEMEL_SEED");
    return seed == nullptr ? seeds : std::vector<std::uint64_t>{std::strtoull(seed, nullptr, 10)};
}

std::vector<std::uint64_t> OrdersModelTest::new_seeds() {
    std::vector<std::uint64_t> seeds;
    for (int i = 0; i < (is_soak() ? soak_walks : 1); ++i)
        seeds.push_back(1'000 + semel::system_random().below(1'000'000'000));
    return fixed_seeds(seeds);
}

void OrdersModelTest::walk(std::uint64_t seed, int steps) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, "again with: " + command_to_repeat(seed));
    model::Walk chance(seed);
    misfortune_ = semel::SeededRandom(seed + 1);
    model_ = {};
    tenant_ = "walk-" + std::to_string(seed);
    done_.clear();
    refused_.clear();
    write_catalogue();
    for (int step = 1; step <= steps && !HasFailure(); ++step) {
        const Asked asked = chance.next(model_);
        act(asked, model::request_of(model_, asked, next_key()));
        if (chance.chance(8) && !done_.empty()) repeat_what_was_done(done_[chance.below(done_.size())]);
        if (chance.chance(20) && !refused_.empty()) {
            // A refusal is not kept: the same request may be done now.
            std::swap(refused_[chance.below(refused_.size())], refused_.back());
            const Sent sent = refused_.back();
            refused_.pop_back();
            act(sent.asked, sent.request);
        }
        if (chance.chance(15)) {
            chance.change_catalogue(model_.catalogue);
            write_catalogue();
        }
        if (chance.chance(25)) {
            if (const auto quote = chance.some_open_quote(model_)) expire(*quote);
        }
        if (step % steps_between_follies == 0)
            for (const Asked& senseless : chance.senseless(model_))
                act(senseless, model::request_of(model_, senseless, next_key()));
        if (step % steps_between_checks == 0 || step == steps) expect_all_as_modelled();
    }
    for (const model::Change& change : model_.changes) events_met.insert(change.event);
}

void OrdersModelTest::act(const Asked& asked, HttpRequest request) {
    const Verdict verdict = model_.take(asked);
    const HttpResponse answer = persist(request, true);
    const Sent sent{.asked = asked, .request = std::move(request), .answer = answer};
    SCOPED_TRACE(sent.request.target + " " + sent.request.body + " -> " + std::to_string(answer.status) + " " +
                 answer.body);
    expect_as_told(sent, verdict);
    if (verdict.is_done())
        done_.push_back(sent);
    else
        refused_.push_back(sent);
}

void OrdersModelTest::expect_as_told(const Sent& sent, const Verdict& verdict) {
    const HttpResponse& answer = sent.answer;
    ASSERT_EQ(answer.status, verdict.status) << "the model says " << verdict.code;
    if (!verdict.is_done()) {
        problems_met.insert(verdict.code);
        EXPECT_EQ(answer.code(), verdict.code);
        if (!verdict.state.empty()) {
            EXPECT_EQ(answer.member("currentState"), verdict.state);
        }
        if (verdict.version != 0) {
            EXPECT_EQ(answer.member("currentVersion"), std::to_string(verdict.version));
        }
        if (!verdict.existing.empty()) {
            EXPECT_THAT(verdict.existing, ::testing::Contains(answer.member("existingId")));
        }
        return;
    }
    const json reply = json::parse(answer.body);
    learn_ids(sent.asked, reply);
    const Kind kind = sent.asked.operation == "quote.convert" ? Kind::order : model::kind_of(sent.asked.operation);
    EXPECT_EQ(model::difference(model::reply_to(model_, sent.asked), reply), "");
    const std::string version = reply.at("version").dump();
    EXPECT_EQ(answer.header("ETag"), "\"" + std::string(model::name(kind)) + "-version-" + version + "\"");
}

void OrdersModelTest::learn_ids(const Asked& asked, const json& reply) {
    if (asked.operation == "quote.create") model_.quotes.back().id = reply.at("quoteId");
    if (asked.operation == "quote.add_item") model_.quotes[*asked.thing].lines.back().id = reply.at("itemId");
    if (asked.operation == "quote.convert") {
        model::Order& order = model_.orders.back();
        order.id = reply.at("orderId");
        ASSERT_EQ(reply.at("items").size(), order.lines.size());
        for (std::size_t i = 0; i < order.lines.size(); ++i) order.lines[i].id = reply.at("items")[i].at("itemId");
        for (const json& told : read_all("/api/v1/fulfillment-tasks?orderId=" + order.id))
            for (const std::size_t index : order.tasks) {
                model::Task& task = model_.tasks[index];
                const std::string item = task.line ? order.lines[*task.line].id : "";
                if (told.at("kind") == task.kind && told.value("itemId", "") == item) task.id = told.at("taskId");
            }
    }
    if (model_.assets.empty() || !model_.assets.back().id.empty()) return;
    const std::size_t order = model_.assets.back().order;
    for (const json& told : read_all("/api/v1/assets?orderId=" + model_.orders[order].id))
        for (model::Asset& asset : model_.assets)
            if (asset.order == order && told.at("itemId") == model_.orders[order].lines[asset.line].id)
                asset.id = told.at("assetId");
}

void OrdersModelTest::repeat_what_was_done(const Sent& sent) {
    SCOPED_TRACE("again: " + sent.request.target + " " + sent.request.body);
    const HttpResponse again = persist(sent.request, true);
    EXPECT_EQ(again.status, sent.answer.status) << again.body;
    EXPECT_EQ(again.body, sent.answer.body);
    EXPECT_EQ(again.header("ETag"), sent.answer.header("ETag"));
    EXPECT_EQ(again.header("Idempotency-Replayed"), "true");
    HttpRequest other = sent.request;
    other.body = R"({"another":"intent"})";
    const HttpResponse refused = persist(other);
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(refused.code(), "IDEMPOTENCY_KEY_CONFLICT");
}

void OrdersModelTest::expire(std::size_t quote) {
    const model::Quote& expired = model_.quotes[quote];
    in_database([&](semel::Transaction& tx) -> semel::Status {
        const auto id = SEMEL_TRY(semel::Uuid::parse(expired.id));
        SEMEL_TRY(
            tx.execute("UPDATE orders_quote SET valid_until = created_at WHERE tenant = $1 AND id = $2", tenant_, id));
        return {};
    });
    model_.expire(quote);
    for (int i = 0; i < 1'000; ++i) {
        if (read(model::path_of(model_, Kind::quote, quote)).at("version") == expired.version) return;
        pause_for(10ms);
    }
    ADD_FAILURE() << "nobody noted that the quote " << expired.id << " has expired";
}

void OrdersModelTest::write_catalogue() {
    in_database([&](semel::Transaction& tx) -> semel::Status {
        for (const auto& [sku, product] : model_.catalogue) {
            const auto rate = SEMEL_TRY(semel::Decimal::of(product.tax_rate, 4));
            SEMEL_TRY(tx.execute("UPDATE orders_product SET tax_rate = $1 WHERE sku = $2", rate, sku));
            for (const auto& [currency, amount] : product.list_prices) {
                const auto price = SEMEL_TRY(semel::Decimal::of(amount, 4));
                SEMEL_TRY(tx.execute("UPDATE orders_product_price SET list_price = $1 WHERE sku = $2 AND currency = $3",
                                     price, sku, currency));
            }
        }
        return {};
    });
}

HttpResponse OrdersModelTest::persist(HttpRequest request, bool is_in_trouble) {
    request.headers.emplace_back("X-Tenant-Id", tenant_);
    std::function<void()> end_of_trouble;
    if (is_in_trouble && trouble && misfortune_.below(trouble_in) == 0) {
        end_of_trouble = trouble(misfortune_);
        ++troubles;
    }
    const semel::Instant until = semel::system_clock().now() + 60s;
    for (;;) {
        const auto answer = call(service->port(), request);
        if (end_of_trouble) std::exchange(end_of_trouble, nullptr)();
        if (answer) {
            EXPECT_EQ(openapi->complaint(request, *answer), "") << request.target << " -> " << answer->body;
            const bool again =
                answer->status == 503 || answer->status == 504 || answer->code() == "REQUEST_ALREADY_IN_PROGRESS";
            if (!again) return *answer;
            EXPECT_TRUE(trouble) << "nothing was wrong, and still: " << answer->body;
        } else {
            EXPECT_TRUE(trouble) << "nothing was wrong, and still: " << answer.error().describe();
        }
        ++answers_lost;
        if (semel::system_clock().now() > until) {
            ADD_FAILURE() << request.target << " is not answered";
            return {};
        }
        pause_for(10ms);
    }
}

json OrdersModelTest::read(const std::string& target) {
    const HttpResponse answer = persist({.target = target});
    EXPECT_EQ(answer.status, 200) << target << " -> " << answer.body;
    return answer.status == 200 ? json::parse(answer.body) : json::object();
}

json OrdersModelTest::read_all(const std::string& target) {
    json all = json::array();
    const std::string first = target + (target.find('?') == std::string::npos ? "?limit=100" : "&limit=100");
    for (std::string next = first; !next.empty();) {
        const json page = read(next);
        if (!page.contains("items")) break;
        for (const json& item : page.at("items")) all.push_back(item);
        next = page.contains("nextCursor") ? first + "&cursor=" + page.at("nextCursor").get<std::string>() : "";
    }
    return all;
}

}  // namespace orders::testing
