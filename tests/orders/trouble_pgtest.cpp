// What goes wrong around a command: the process is killed or stopped, the database goes away, the answer to COMMIT is lost.

#include "semel/testing/fault_proxy.hpp"
#include "tests/orders/fixture.hpp"

#include <array>
#include <csignal>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;
using semel::testing::ProxyPlan;
using semel::testing::ProxyScope;

class OrdersTrouble : public OrdersTest {
protected:
    /// The same request until it is answered for good, as a client does.
    [[nodiscard]] HttpResponse persist(const HttpRequest& request, semel::Duration limit = 30s) const {
        const semel::Instant until = semel::system_clock().now() + limit;
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
    [[nodiscard]] std::int64_t payments() { return count("SELECT count(*) FROM orders_payment"); }
};

TEST_P(OrdersTrouble, AReplyOutlivesTheProcessThatGaveIt) {
    start();
    const HttpResponse first = post("/api/v1/payments", "k", payment_body("r"));
    ASSERT_EQ(first.status, 201);
    service->kill();
    ASSERT_TRUE(service->start_again());
    const HttpResponse repeat = post("/api/v1/payments", "k", payment_body("r"));
    EXPECT_EQ(repeat.status, 201);
    EXPECT_EQ(repeat.body, first.body);
    EXPECT_EQ(repeat.header("Location"), first.header("Location"));
    EXPECT_EQ(repeat.header("Content-Type"), first.header("Content-Type"));
    EXPECT_EQ(repeat.header("Idempotency-Replayed"), "true");
    EXPECT_EQ(post("/api/v1/payments", "k", payment_body("other")).code(), "IDEMPOTENCY_KEY_CONFLICT");
    EXPECT_EQ(payments(), 1);
}

TEST_P(OrdersTrouble, KilledAroundItsCommitItHasHappenedOnceInTheEnd) {
    for (const char* point : {"command.before_commit", "command.after_commit", "outbox.before_append"}) {
        start({.environment = {std::string("SEMEL_FAILPOINTS=") + point + "=kill"}});
        const HttpRequest request = posting("/api/v1/payments", point, payment_body(point));
        EXPECT_FALSE(call(service->port(), request)) << "nobody lives to answer at " << point;
        EXPECT_EQ(service->await_end().value().signal, SIGKILL) << point;
        start();
        const HttpResponse retried = persist(request);
        EXPECT_EQ(retried.status, 201) << retried.body;
        const bool had_committed = std::string(point) == "command.after_commit";
        EXPECT_EQ(retried.header("Idempotency-Replayed").has_value(), had_committed) << point;
        EXPECT_EQ(count("SELECT count(*) FROM orders_payment WHERE reference = $1", std::string_view(point)), 1);
        EXPECT_EQ(persist(request).body, retried.body);
        EXPECT_TRUE(service->stop().value().success());
    }
    EXPECT_EQ(events("payment.created"), 3);
}

TEST_P(OrdersTrouble, AskedToStopItFinishesWhatItHasBegunAndTakesNoMore) {
    start();
    Blocker blocker(database(), GetParam(), "LOCK TABLE orders_payment IN ACCESS EXCLUSIVE MODE");
    auto begun = HttpConnection::open(service->port());
    auto idle = HttpConnection::open(service->port());
    ASSERT_TRUE(begun && idle);
    ASSERT_TRUE(idle->exchange({.target = "/livez"}));
    ASSERT_TRUE(begun->send(posting("/api/v1/payments", "k", payment_body("r")).text()));
    pause_for(500ms);
    service->ask_to_stop();
    EXPECT_TRUE(idle->closed_by_peer(10s));
    EXPECT_FALSE(HttpConnection::open(service->port())) << "nobody listens any more";
    EXPECT_TRUE(service->running());
    blocker.release();
    const auto answer = begun->receive();
    ASSERT_TRUE(answer) << answer.error().describe();
    EXPECT_EQ(answer->status, 201) << answer->body;
    EXPECT_EQ(answer->header("Connection"), "close");
    const auto ended = service->await_end();
    ASSERT_TRUE(ended) << ended.error().describe();
    EXPECT_TRUE(ended->success()) << ended->text() << service->error_output();
    EXPECT_EQ(payments(), 1);
}

TEST_P(OrdersTrouble, StartedTwiceOnOneDatabaseBothServeAndShareTheKeys) {
    start();
    auto second = Service::start({.database = address});
    ASSERT_TRUE(second) << second.error().describe();
    const HttpResponse first = post("/api/v1/payments", "k", payment_body("r"));
    ASSERT_EQ(first.status, 201);
    const auto repeat = call(second->port(), posting("/api/v1/payments", "k", payment_body("r")));
    ASSERT_TRUE(repeat);
    EXPECT_EQ(repeat->body, first.body);
    EXPECT_EQ(repeat->header("Idempotency-Replayed"), "true");
    EXPECT_EQ(payments(), 1);
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersTrouble, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

/// What can only happen between a service and a server.
class OrdersServerTrouble : public OrdersTrouble {};

TEST_P(OrdersServerTrouble, ACommitWhoseAnswerIsLostIsSettledAndHappensOnce) {
    const auto shared = semel::testing::shared_postgres();
    auto proxy = semel::testing::FaultProxy::start((*shared)->port());
    ASSERT_TRUE(proxy) << proxy.error().describe();
    // Where nobody tells the service that COMMIT got lost, it waits for up to half of this. Without workers: the next
    // COMMIT is the one of our request.
    start({.database = (*proxy)->url(address.substr(address.rfind('/') + 1)),
           .config = "[limits]\nrequest_deadline = \"4s\"\nasync_workers = 0\n"});
    const std::array plans{ProxyPlan::swallow_commit_answer(), ProxyPlan::swallow_commit_answer(ProxyPlan::Way::finish),
                           ProxyPlan::cut_after_commit_sent(), ProxyPlan::cut_before_commit(),
                           ProxyPlan::cut_server_before_commit()};
    const std::string quote = "/api/v1/quotes/" + make_quote();
    std::int64_t items = 0;
    for (std::size_t plan = 0; plan < plans.size(); ++plan) {
        const std::string key = "lost-" + std::to_string(plan);
        // One that only posts, and goes out whole with its COMMIT.
        (*proxy)->set_plan(plans[plan], ProxyScope::next_commit);
        const HttpRequest payment = posting("/api/v1/payments", key, payment_body(key));
        const HttpResponse paid = persist(payment);
        EXPECT_EQ(paid.status, 201) << plan << ": " << paid.body;
        EXPECT_EQ(persist(payment).body, paid.body);
        EXPECT_EQ(count("SELECT count(*) FROM orders_payment WHERE reference = $1", key), 1) << plan;
        // One that reads first, whose claim is answered before.
        (*proxy)->set_plan(plans[plan], ProxyScope::next_commit);
        const HttpRequest item = posting(quote + "/items", key, item_body,
                                         {{"If-Match", "\"quote-version-" + std::to_string(items + 1) + "\""}});
        const HttpResponse added = persist(item);
        EXPECT_EQ(added.status, 201) << plan << ": " << added.body;
        EXPECT_EQ(persist(item).body, added.body);
        EXPECT_EQ(count("SELECT count(*) FROM orders_quote_item"), ++items) << plan;
        (*proxy)->clear_plans();
        // Among traffic that fares well, or the circuit breaker would take our cuts for a database that is away.
        for (int i = 0; i < 20; ++i) EXPECT_EQ(get("/api/v1/payments?limit=1").status, 200);
    }
    EXPECT_EQ((*proxy)->counters().cuts, 2 * plans.size()) << "every cut took place";
    EXPECT_EQ(events("payment.created"), static_cast<std::int64_t>(plans.size()));
    EXPECT_EQ(events("quote.item_added"), static_cast<std::int64_t>(plans.size()));
}

TEST_P(OrdersServerTrouble, AMistakeInTheSchemaIsTheServersAndShowsNothingOfIt) {
    start();
    const auto renamed = semel::transact(database(), [](semel::Transaction& tx) {
        return tx.run_script("ALTER TABLE orders_case RENAME TO elsewhere");
    });
    ASSERT_TRUE(renamed.committed()) << renamed.error().describe();
    const HttpResponse failed = post("/api/v1/cases", "k", R"({"subject":"s"})");
    EXPECT_EQ(failed.status, 500) << failed.body;
    EXPECT_EQ(failed.code(), "INTERNAL_ERROR");
    EXPECT_THAT(failed.body,
                ::testing::Not(::testing::AnyOf(::testing::HasSubstr("42P01"), ::testing::HasSubstr("orders_case"))));
}

TEST_P(OrdersServerTrouble, WithoutItsDatabaseItSaysSoAndRecoversByItself) {
    auto server = semel::testing::PostgresCluster::start();
    ASSERT_TRUE(server) << server.error().describe();
    start({.database = server->url(), .config = "[limits]\nrequest_deadline = \"3s\"\n"});
    ASSERT_EQ(post("/api/v1/payments", "before", payment_body("before")).status, 201);
    EXPECT_EQ(get("/readyz").status, 200);
    ASSERT_TRUE(server->stop());
    pause_for(1100ms);  // As long as an answer about readiness is believed.
    EXPECT_EQ(get("/livez").status, 200);
    const HttpResponse not_ready = get("/readyz");
    EXPECT_EQ(not_ready.status, 503);
    EXPECT_EQ(not_ready.code(), "NOT_READY");
    const HttpRequest request = posting("/api/v1/payments", "during", payment_body("during"));
    for (int i = 0; i < 3; ++i) {
        const HttpResponse refused = send(request);
        EXPECT_EQ(refused.status, 503) << refused.body;
        EXPECT_THAT(refused.code(), ::testing::AnyOf("TRANSIENT_PERSISTENCE_FAILURE", "OUTCOME_UNKNOWN"));
        EXPECT_TRUE(refused.header("Retry-After"));
        const HttpResponse unread = get("/api/v1/payments");
        EXPECT_EQ(unread.status, 503) << unread.body;
    }
    EXPECT_EQ(post("/api/v1/payments", "before", payment_body("before")).header("Idempotency-Replayed"), "true")
        << "a finished reply is in memory";
    ASSERT_TRUE(server->start_again());
    EXPECT_EQ(persist(request, 60s).status, 201);
    for (int i = 0; i < 100 && get("/readyz").status != 200; ++i) pause_for(100ms);
    EXPECT_EQ(get("/readyz").status, 200);
    EXPECT_EQ(server->scalar("SELECT count(*) FROM orders_payment").value(), "2");
    service->kill();
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersServerTrouble, ::testing::Values(Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
