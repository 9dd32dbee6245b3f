// A pool that runs dry, and servers that are dead, restarted or mute: each a clear error of its own name,
// within its limit, and nothing leaks.

#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/postgres_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace semel::integration {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class TroubleTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto started = testing::PostgresCluster::start();
        if (!started) GTEST_SKIP() << started.error().describe();
        server.emplace(*std::move(started));
        open_database({});
    }

    void open_database(DatabaseOptions options) {
        options.breaker.attempts_min = 1000;  // The reason of each failure is what is looked at here.
        auto opened = open(server->url(), options);
        ASSERT_TRUE(opened) << opened.error().describe();
        database = std::move(opened->database);
    }

    Outcome<std::int64_t> ask(Duration limit, const Policy& policy = Policy::once()) {
        TransactOptions options;
        options.deadline = Deadline::after(database->clock().now(), limit);
        options.retry = policy;
        return transact(*database, options, [](Transaction& tx) -> Result<std::int64_t> {
            return SEMEL_TRY(tx.execute("SELECT 42")).scalar<std::int64_t>();
        });
    }

    /// The error, after no longer than `limit` and a little.
    Error error_within(Duration limit, const std::function<Outcome<std::int64_t>()>& act) {
        const Instant before = database->clock().now();
        const auto outcome = act();
        EXPECT_LT(database->clock().now() - before, limit + 1s);
        EXPECT_TRUE(outcome.not_committed());
        EXPECT_EQ(database->pool().usage().in_use, 0U) << "a session leaked";
        return outcome.not_committed() ? outcome.error() : Error();
    }

    std::optional<testing::PostgresCluster> server;
    std::unique_ptr<Database> database;
};

TEST_F(TroubleTest, APoolThatRunsDryFailsWaitersInTimeAndRefusesTheRest) {
    DatabaseOptions options;
    options.pool.size = 2;
    options.pool.queue = 3;
    options.pool.acquire_timeout = 300ms;
    open_database(options);
    std::vector<Pool::Loan> held;
    for (int i = 0; i < 2; ++i) held.push_back(database->pool().acquire(Deadline::never()).value());

    std::atomic<int> timed_out = 0;
    std::atomic<int> refused = 0;
    {
        std::latch together(8);
        std::vector<std::jthread> callers;
        for (int i = 0; i < 8; ++i)
            callers.emplace_back([&] {
                together.arrive_and_wait();
                const Instant before = database->clock().now();
                const auto outcome = ask(10s);
                ASSERT_TRUE(outcome.not_committed());
                EXPECT_LT(database->clock().now() - before, 2s);
                EXPECT_EQ(outcome.error().cause.timeout, Timeout::pool);
                EXPECT_EQ(outcome.error().fault, Fault::throttled);
                EXPECT_THAT(outcome.error().cause.hint, HasSubstr("trouble_pgtest.cpp"));
                ++(outcome.error().message.find("already wait") != std::string::npos ? refused : timed_out);
            });
    }
    EXPECT_EQ(timed_out, 3) << "as many as the queue holds";
    EXPECT_EQ(refused, 5);
    held.clear();
    EXPECT_EQ(database->pool().usage().in_use, 0U);
    EXPECT_EQ(database->pool().usage().waiting, 0U);
    EXPECT_TRUE(ask(10s).committed());
}

TEST_F(TroubleTest, EachHasAnErrorOfItsOwnName) {
    ASSERT_TRUE(ask(10s).committed());

    // Mute: the kernel accepts, nobody answers. First on the session that is open, then on a new one.
    ASSERT_TRUE(server->pause());
    const Error mute_session = error_within(1s, [&] { return ask(1s); });
    const Error mute_server = error_within(1s, [&] { return ask(1s); });
    ASSERT_TRUE(server->resume());
    EXPECT_THAT(mute_session.message, HasSubstr("the deadline passed before the server answered"));
    EXPECT_EQ(mute_session.cause.timeout, Timeout::total);
    EXPECT_THAT(mute_server.message, HasSubstr("accepted"));
    EXPECT_EQ(mute_server.cause.timeout, Timeout::connect);

    // Restarted: the session that was open is gone.
    ASSERT_TRUE(ask(10s).committed());
    ASSERT_TRUE(server->restart());
    const Error restarted = error_within(1s, [&] { return ask(1s); });
    EXPECT_EQ(restarted.fault, Fault::unavailable);

    // Dead: nothing listens.
    ASSERT_TRUE(server->stop(testing::PostgresCluster::StopMode::fast));
    open_database({});
    const Error dead = error_within(1s, [&] { return ask(1s); });
    EXPECT_EQ(dead.fault, Fault::unavailable);
    EXPECT_THAT(dead.message, HasSubstr("nothing listens"));

    const std::set<std::string> names{mute_session.message, mute_server.message, restarted.message, dead.message};
    EXPECT_EQ(names.size(), 4U) << ::testing::PrintToString(names);
}

TEST_F(TroubleTest, ARestartedServerIsMetWithAFreshSessionAndTheWorkIsDone) {
    ASSERT_TRUE(ask(10s).committed());
    ASSERT_TRUE(server->restart());
    EXPECT_TRUE(ask(10s, Policy()).committed());
}

TEST_F(TroubleTest, ACrashedServerIsWaitedForWithinTheDeadline) {
    ASSERT_TRUE(ask(10s).committed());
    ASSERT_TRUE(server->kill9());
    std::jthread back([&] { EXPECT_TRUE(server->start_again()); });
    EXPECT_TRUE(ask(30s, Policy::create({.attempts = 100, .cap = 500ms}).value()).committed());
}

}  // namespace
}  // namespace semel::integration
