// From an accepted quote to an order: once for each revision, whatever is repeated, raced or lost.

#include "semel/testing/fault_proxy.hpp"
#include "tests/orders/order_journey.hpp"

#include <array>
#include <csignal>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;
using semel::testing::ProxyPlan;
using semel::testing::ProxyScope;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class OrdersConvert : public OrderJourneyTest {
protected:
    [[nodiscard]] static HttpRequest converting(const QuoteAt& quote, const std::string& key,
                                                const std::string& body = "{}") {
        return posting(quote.path("/convert-to-order"), key, body, quote.seen());
    }
    [[nodiscard]] std::int64_t orders() { return count("SELECT count(*) FROM orders_order"); }

    /// The same request until it is answered for good, as a client does.
    [[nodiscard]] HttpResponse persist(const HttpRequest& request) const {
        const semel::Instant until = semel::system_clock().now() + 30s;
        for (;;) {
            const auto answer = call(service->port(), request);
            const bool again = !answer || answer->status >= 500 || answer->code() == "REQUEST_ALREADY_IN_PROGRESS";
            if (!again) return *answer;
            if (semel::system_clock().now() > until) {
                ADD_FAILURE() << (answer ? answer->body : answer.error().describe());
                return {};
            }
            pause_for(20ms);
        }
    }

    void expect_one_order_of(const HttpRequest& request, const HttpResponse& answer, std::int64_t so_far) {
        EXPECT_EQ(answer.status, 201) << answer.body;
        EXPECT_EQ(persist(request).body, answer.body);
        EXPECT_EQ(orders(), so_far);
        EXPECT_EQ(events("order.created"), so_far);
        EXPECT_EQ(events("quote.converted"), so_far);
        EXPECT_EQ(count("SELECT count(*) FROM orders_task"), 3 * so_far);
    }
};

TEST_P(OrdersConvert, AnOrderHasTheItemsAndSumsOfItsQuoteAndTheTasksThatTheyTake) {
    start();
    const QuoteAt quote = journey.accepted({R"({"sku":"handbook","quantity":51})", item_on("line-7")});
    const HttpResponse priced = get(quote.path());
    const HttpResponse made = send(converting(quote, "k", R"({"targetDate":"2026-12-01"})"));
    ASSERT_EQ(made.status, 201) << made.body;
    const std::string path = "/api/v1/orders/" + made.member("orderId");
    EXPECT_EQ(made.header("Location"), path);
    EXPECT_EQ(made.header("ETag"), "\"order-version-1\"");
    for (const char* same : {"net", "tax", "gross", "currency", "customerId", "quoteId"})
        EXPECT_EQ(made.member(same), priced.member(same)) << same;
    EXPECT_EQ(made.member("quoteRevision") + made.member("state") + made.member("taskCount"), "1CREATED5");
    EXPECT_EQ(made.member("targetDate"), "2026-12-01");
    const HttpResponse read = get(path);
    EXPECT_EQ(read.body, made.body);
    EXPECT_EQ(get(path, {{"If-None-Match", *made.header("ETag")}}).status, 304);
    EXPECT_THAT(made.body, HasSubstr(R"("instanceKey":"line-7")"));

    const HttpResponse converted = get(quote.path());
    EXPECT_EQ(converted.member("state"), "CONVERTED");
    EXPECT_EQ(converted.member("version"), std::to_string(quote.version + 1));
    std::map<std::string, int> kinds;
    for (const TaskAt& task : tasks_of(made.member("orderId"))) ++kinds[task.kind + " " + task.state];
    EXPECT_THAT(kinds, UnorderedElementsAre(Pair("RESERVE READY", 2), Pair("PROVISION WAITING", 2),
                                            Pair("ACTIVATE WAITING", 1)));
    EXPECT_EQ(events("order.created"), 1);
    EXPECT_EQ(events("quote.converted"), 1);
    expect_consistent_orders();
}

TEST_P(OrdersConvert, ADuplicateGetsTheSameOrder) {
    start({.config = "[limits]\ncache_bytes = 0\n"});
    const QuoteAt quote = journey.accepted();
    const HttpResponse first = send(converting(quote, "k"));
    ASSERT_EQ(first.status, 201) << first.body;
    const HttpResponse repeat = send(converting(quote, "k"));
    EXPECT_EQ(repeat.status, 201);
    EXPECT_EQ(repeat.body, first.body);
    EXPECT_EQ(repeat.header("Location"), first.header("Location"));
    EXPECT_EQ(repeat.header("ETag"), first.header("ETag"));
    EXPECT_EQ(repeat.header("Idempotency-Replayed"), "true");
    EXPECT_EQ(orders(), 1);
    EXPECT_EQ(events("order.created"), 1);
}

TEST_P(OrdersConvert, TheSameKeyForAnotherDayIsAConflictAndDoesNothing) {
    start();
    const QuoteAt quote = journey.accepted();
    ASSERT_EQ(send(converting(quote, "k", R"({"targetDate":"2026-12-01"})")).status, 201);
    const HttpResponse other = send(converting(quote, "k", R"({"targetDate":"2026-12-02"})"));
    EXPECT_EQ(other.status, 409);
    EXPECT_EQ(other.code(), "IDEMPOTENCY_KEY_CONFLICT");
    EXPECT_EQ(orders(), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_order WHERE target_date = '2026-12-01'"), 1);
}

TEST_P(OrdersConvert, OfManyWhoConvertOneRevisionOneMakesTheOrder) {
    start();
    const QuoteAt quote = journey.accepted();
    std::mutex mutex;
    std::string made;
    std::vector<std::string> named;
    // As many as the service lets in have read the quote before the first may write.
    Blocker blocker(database(), GetParam(), "LOCK TABLE orders_order IN EXCLUSIVE MODE");
    const std::jthread releasing([&] {
        pause_for(500ms);
        blocker.release();
    });
    const auto told = at_once(32, [&](int client) {
        HttpResponse answer = send(converting(quote, "convert-" + std::to_string(client)));
        const std::lock_guard lock(mutex);
        if (answer.status == 201)
            made = answer.member("orderId");
        else
            named.push_back(answer.member("existingId"));
        return answer;
    });
    EXPECT_THAT(told, UnorderedElementsAre(Pair("201", 1), Pair("409 DUPLICATE_BUSINESS_COMMAND", 31)));
    EXPECT_THAT(named, ::testing::Each(made));
    EXPECT_EQ(orders(), 1);
    EXPECT_EQ(events("order.created"), 1);
    EXPECT_EQ(events("quote.converted"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_task"), 3);
    expect_consistent_orders();
}

TEST_P(OrdersConvert, TheUniqueIndexIsAnsweredWithTheOrderThatIsThere) {
    start();
    const QuoteAt quote = journey.accepted();
    run("INSERT INTO orders_order (tenant, id, quote_id, quote_revision, customer_id, currency, state, version, net, "
        "tax,"
        " gross, target_date, task_count, open_task_count, failed_task_count, created_at)"
        " SELECT tenant, '0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12', id, revision, customer_id, currency, 'CREATED', 1, "
        "net,"
        " tax, gross, '', 0, 0, 0, created_at FROM orders_quote");
    const HttpResponse refused = send(converting(quote, "k"));
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(refused.code(), "DUPLICATE_BUSINESS_COMMAND");
    EXPECT_EQ(refused.member("existingId"), "0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12");
    EXPECT_EQ(get(quote.path()).member("state"), "ACCEPTED") << "nothing was done";
    EXPECT_EQ(events("order.created"), 0);
    EXPECT_EQ(count("SELECT count(*) FROM orders_task"), 0);
}

TEST_P(OrdersConvert, TheLargestQuoteIsConvertedAndCancelledInOneTransactionEach) {
    start();
    const QuoteAt quote = journey.accepted(std::vector<std::string>(100, Journey::cheap));
    const HttpResponse made = send(converting(quote, "k"));
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(made.member("taskCount"), "201");
    EXPECT_EQ(made.member("gross"), "3588.00");
    const Seen order = look_at_order(made.member("orderId"));
    EXPECT_EQ(get(order.path).body, made.body);
    ASSERT_EQ(command(task_of(made.member("orderId"), "RESERVE").seen(), "complete").status, 200);
    expect_consistent_orders();
    EXPECT_EQ(command(look(order.path), "cancel", because).status, 200);
    EXPECT_EQ(events("task.cancelled"), 200);
    expect_consistent_orders();
}

TEST_P(OrdersConvert, WhoeverSawAnOlderVersionIsTold) {
    start();
    QuoteAt quote = journey.accepted();
    quote.version -= 1;
    const HttpResponse refused = send(converting(quote, "k"));
    EXPECT_EQ(refused.status, 412) << refused.body;
    EXPECT_EQ(refused.code(), "PRECONDITION_FAILED");
    EXPECT_EQ(refused.header("ETag"), "\"quote-version-" + std::to_string(quote.version + 1) + "\"");
    quote.version += 1;
    EXPECT_EQ(send(converting(quote, "k")).status, 201) << "a refusal is decided anew";
    EXPECT_EQ(orders(), 1);
}

TEST_P(OrdersConvert, OnlyAnAcceptedQuoteWhoseTimeHasNotPassedIsConverted) {
    start();
    for (const QuoteAt& quote : {journey.draft_with_items(), journey.submitted(), journey.approved()}) {
        const HttpResponse refused = send(converting(quote, fresh_key()));
        EXPECT_EQ(refused.status, 409) << refused.body;
        EXPECT_EQ(refused.code(), "INVALID_STATE_TRANSITION");
        EXPECT_EQ(refused.member("currentVersion"), std::to_string(quote.version));
    }
    const QuoteAt late = journey.accepted();
    run("UPDATE orders_quote SET valid_until = '2020-01-01T00:00:00.000000Z'");
    const HttpResponse refused = send(converting(late, fresh_key()));
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(refused.member("currentState"), "EXPIRED");
    EXPECT_EQ(orders(), 0);
}

TEST_P(OrdersConvert, WhatIsMalformedIsRefusedWithAReason) {
    start();
    const QuoteAt quote = journey.accepted();
    const std::string path = quote.path("/convert-to-order");
    EXPECT_EQ(post("/api/v1/quotes/7/convert-to-order", "a", "{}", quote.seen()).status, 400);
    EXPECT_EQ(
        post("/api/v1/quotes/0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12/convert-to-order", "b", "{}", quote.seen()).status,
        404);
    EXPECT_EQ(post(path, "c", "{}").status, 428);
    EXPECT_EQ(post(path, "d", "{}", {{"If-Match", "*"}}).status, 428);
    EXPECT_EQ(post(path, "e", "{}", {{"If-Match", "seven"}}).status, 400);
    for (const char* body :
         {R"({"targetDate":"2026-02-30"})", R"({"targetDate":7})", R"({"targetDay":"2026-12-01"})", "[]", "{"}) {
        const HttpResponse refused = send(converting(quote, fresh_key(), body));
        EXPECT_EQ(refused.status, 400) << body;
        EXPECT_NE(refused.member("detail"), "") << body;
    }
    // What is another tenant's does not exist.
    Fields elsewhere = quote.seen();
    elsewhere.emplace_back("X-Tenant-Id", "other");
    EXPECT_EQ(post(path, "f", "{}", elsewhere).status, 404);
    EXPECT_EQ(orders(), 0);
}

TEST_P(OrdersConvert, KilledAroundItsCommitItHasHappenedOnceInTheEnd) {
    start();
    const std::array quotes{journey.accepted(), journey.accepted(), journey.accepted()};
    const std::array points{"command.before_commit", "command.after_commit", "outbox.before_append"};
    for (std::size_t round = 0; round < points.size(); ++round) {
        const std::string point = points[round];
        EXPECT_TRUE(service->stop().value().success());
        // Without workers and passes of its own: the first COMMIT is the one of our request.
        start({.config = "[limits]\nasync_workers = 0\n", .environment = {"SEMEL_FAILPOINTS=" + point + "=kill"}});
        const HttpRequest request = converting(quotes[round], point);
        EXPECT_FALSE(call(service->port(), request)) << "nobody lives to answer at " << point;
        EXPECT_EQ(service->await_end().value().signal, SIGKILL) << point;
        start();
        const HttpResponse retried = persist(request);
        EXPECT_EQ(retried.header("Idempotency-Replayed").has_value(), point == "command.after_commit") << point;
        expect_one_order_of(request, retried, static_cast<std::int64_t>(round) + 1);
    }
    expect_consistent_orders();
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersConvert, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

/// What can only happen between a service and a server.
class OrdersConvertLost : public OrdersConvert {};

TEST_P(OrdersConvertLost, ACommitWhoseAnswerIsLostIsSettledAndMakesOneOrder) {
    const auto shared = semel::testing::shared_postgres();
    auto proxy = semel::testing::FaultProxy::start((*shared)->port());
    ASSERT_TRUE(proxy) << proxy.error().describe();
    start({.database = (*proxy)->url(address.substr(address.rfind('/') + 1)),
           .config = "[limits]\nrequest_deadline = \"4s\"\nasync_workers = 0\n"});
    const std::array plans{ProxyPlan::swallow_commit_answer(), ProxyPlan::swallow_commit_answer(ProxyPlan::Way::finish),
                           ProxyPlan::cut_after_commit_sent(), ProxyPlan::cut_before_commit(),
                           ProxyPlan::cut_server_before_commit()};
    for (std::size_t plan = 0; plan < plans.size(); ++plan) {
        const QuoteAt quote = journey.accepted();
        const HttpRequest request = converting(quote, "lost-" + std::to_string(plan));
        (*proxy)->set_plan(plans[plan], ProxyScope::next_commit);
        const HttpResponse answer = persist(request);
        (*proxy)->clear_plans();
        expect_one_order_of(request, answer, static_cast<std::int64_t>(plan) + 1);
        EXPECT_EQ(get(quote.path()).member("state"), "CONVERTED");
    }
    EXPECT_EQ((*proxy)->counters().cuts, plans.size()) << "every cut took place";
    expect_consistent_orders();
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersConvertLost, ::testing::Values(Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
