// Every code that a client may have to branch on, and how it comes about.

#include "tests/orders/fixture.hpp"
#include "tests/orders/journey.hpp"

#include <functional>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;

/// Says that the caller repeats by itself: one attempt here.
const std::pair<std::string, std::string> retries_are_mine{"X-Retry-Owner", "gateway"};

class OrdersProblemCodes : public OrdersTest {
protected:
    void SetUp() override {
        OrdersTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        // Nobody executes what is handed in.
        start({.config = "[limits]\nasync_workers = 0\n"});
        journey.emplace([this](const HttpRequest& request) { return send(request); });
    }

    HttpResponse without_a_key() const {
        HttpRequest request = posting("/api/v1/payments", "", payment_body("r"));
        std::erase_if(request.headers, [](const auto& field) { return field.first == "Idempotency-Key"; });
        return send(request);
    }
    HttpResponse another_body_under_a_used_key() const {
        EXPECT_EQ(post("/api/v1/payments", "used", payment_body("used")).status, 201);
        return post("/api/v1/payments", "used", payment_body("other"));
    }
    HttpResponse what_was_handed_in_and_not_executed() const {
        EXPECT_EQ(post("/api/v1/payments", "slow", payment_body("slow"), {{"Prefer", "respond-async"}}).status, 202);
        return post("/api/v1/payments", "slow", payment_body("slow"));
    }
    HttpResponse a_version_of_yesterday() {
        QuoteAt quote = journey->draft_with_items();
        quote.version -= 1;
        return post(quote.path("/submit"), "yesterday", "{}", quote.seen());
    }
    HttpResponse what_the_state_does_not_allow() {
        const QuoteAt quote = journey->draft_with_items();
        return post(quote.path("/accept"), "too-early", "{}", quote.seen());
    }
    HttpResponse a_second_order_of_one_quote() {
        QuoteAt quote = journey->accepted();
        journey->take(quote, "convert-to-order");
        return post(quote.path("/convert-to-order"), "second", "{}", quote.seen());
    }
    /// Longer than a statement waits for a lock.
    HttpResponse a_store_that_does_not_take_it() {
        Blocker blocker(database(), GetParam(), "LOCK TABLE orders_case IN ACCESS EXCLUSIVE MODE");
        return post("/api/v1/cases", "locked", R"({"subject":"s"})", {retries_are_mine});
    }

    std::optional<Journey> journey;
};

TEST_P(OrdersProblemCodes, EachIsProducedByWhatItNames) {
    struct Case {
        const char* code;
        int status;
        std::function<HttpResponse()> produce;
    };
    const std::vector<Case> cases{
        {"MISSING_IDEMPOTENCY_KEY", 400, [&] { return without_a_key(); }},
        {"IDEMPOTENCY_KEY_CONFLICT", 409, [&] { return another_body_under_a_used_key(); }},
        {"REQUEST_ALREADY_IN_PROGRESS", 409, [&] { return what_was_handed_in_and_not_executed(); }},
        {"PRECONDITION_FAILED", 412, [&] { return a_version_of_yesterday(); }},
        {"INVALID_STATE_TRANSITION", 409, [&] { return what_the_state_does_not_allow(); }},
        {"DUPLICATE_BUSINESS_COMMAND", 409, [&] { return a_second_order_of_one_quote(); }},
        {"TRANSIENT_PERSISTENCE_FAILURE", 503, [&] { return a_store_that_does_not_take_it(); }},
    };
    // VERSION_CONFLICT needs two writers at once: below. EXTERNAL_OUTCOME_UNKNOWN needs an outside call, which no route of
    // this service makes: tests/http/command_route_test.cpp.
    for (const Case& one : cases) {
        SCOPED_TRACE(one.code);
        const HttpResponse answer = one.produce();
        EXPECT_EQ(answer.code(), one.code) << answer.body;
        EXPECT_EQ(answer.status, one.status) << answer.body;
        EXPECT_EQ(answer.header("Content-Type"), "application/problem+json");
        EXPECT_NE(answer.member("detail"), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersProblemCodes, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

/// What takes two writers at once: SQLite has one.
class OrdersLostRace : public OrdersProblemCodes {
protected:
    /// Submits a quote, and changes its version after it was read and before it is written.
    HttpResponse lose_the_race(const QuoteAt& quote, const Fields& headers) {
        Fields all = quote.seen();
        all.insert(all.end(), headers.begin(), headers.end());
        Blocker faster(database(), GetParam(), "UPDATE orders_quote SET version = version + 1");
        HttpResponse answer;
        std::jthread client([&] { answer = post(quote.path("/submit"), "slower", "{}", all); });
        const auto is_waiting = [&] {
            return count(
                       "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                       " AND datname = current_database()") > 0;
        };
        for (int i = 0; i < 500 && !is_waiting(); ++i) pause_for(10ms);
        EXPECT_TRUE(is_waiting());
        faster.release();
        client.join();
        return answer;
    }
};

TEST_P(OrdersLostRace, IsDecidedAnewAndEndsAsWhatIsThereNow) {
    const HttpResponse answer = lose_the_race(journey->draft_with_items(), {});
    EXPECT_EQ(answer.status, 412) << answer.body;
    EXPECT_EQ(answer.code(), "PRECONDITION_FAILED");
    EXPECT_EQ(answer.member("currentETag"), "\"quote-version-3\"");
}

TEST_P(OrdersLostRace, IsAVersionConflictForACallerWhoDecidesByItself) {
    const HttpResponse answer = lose_the_race(journey->draft_with_items(), {retries_are_mine});
    EXPECT_EQ(answer.status, 409) << answer.body;
    EXPECT_EQ(answer.code(), "VERSION_CONFLICT");
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote WHERE state = 'DRAFT'"), 1) << "nothing was done";
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersLostRace, ::testing::Values(Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
