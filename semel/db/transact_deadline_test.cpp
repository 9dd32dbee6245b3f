// What callers that leave next to no time tell the breaker that everyone shares: nothing.

#include "semel/db/fake_session_test.hpp"
#include "semel/db/transact.hpp"
#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

using namespace std::chrono_literals;

/// A limit of a step that ran out.
Error late(Fault fault, Timeout timeout) {
    Error error = failure(fault, "not in time");
    error.cause.timeout = timeout;
    return error;
}

class ShortDeadlineTest : public ::testing::Test {
protected:
    Outcome<> insert() {
        return transact(*database, options, [](Transaction& tx) -> Status {
            SEMEL_TRY(tx.execute("INSERT"));
            return {};
        });
    }
    /// Fifty operations, each left `limit`, whose COMMIT is not answered in time.
    void lose_commits(Duration limit) {
        for (int i = 0; i < 50; ++i) {
            server.commits = {Unknown{late(Fault::unknown, Timeout::read)}};
            options.deadline = Deadline::after(clock.now(), limit);
            (void)insert();
        }
        server.commits.clear();
    }
    void refuse_connections(Duration limit) {
        options.retry = Policy::once();
        for (int i = 0; i < 50; ++i) {
            server.connect_failures = {late(Fault::unavailable, Timeout::connect)};
            options.deadline = Deadline::after(clock.now(), limit);
            (void)insert();
        }
        server.connect_failures.clear();
    }
    [[nodiscard]] Breaker::State breaker() { return database->breaker().state(clock.now()); }

    FakeServer server;
    testing::ManualClock clock;
    SeededRandom random{1};
    std::unique_ptr<Database> database = Database::create(connect_to(server), {}, clock, random).value();
    TransactOptions options;
};

TEST_F(ShortDeadlineTest, ACommitThatWasLeftNoFairTimeSaysNothingAboutTheDatabase) {
    lose_commits(999ms);
    EXPECT_EQ(server.count("commit"), 50U);
    EXPECT_EQ(breaker(), Breaker::State::closed);
    lose_commits(1s);
    EXPECT_EQ(breaker(), Breaker::State::open) << "one with time enough does";
}

TEST_F(ShortDeadlineTest, AConnectionThatWasLeftNoFairTimeSaysNothingAboutTheDatabase) {
    refuse_connections(999ms);
    EXPECT_EQ(server.count("connect"), 50U);
    EXPECT_EQ(breaker(), Breaker::State::closed);
    refuse_connections(1s);
    EXPECT_EQ(breaker(), Breaker::State::open) << "one with time enough does";
}

TEST_F(ShortDeadlineTest, ABodyThatUsedUpTheTimeLeavesItsCommitNoFairTime) {
    DatabaseOptions how;
    how.breaker = {.attempts_min = 1};
    database = Database::create(connect_to(server), how, clock, random).value();
    for (int i = 0; i < 2; ++i) {
        server.commits = {Unknown{late(Fault::unknown, Timeout::read)}};
        options.deadline = Deadline::after(clock.now(), 10s);
        const auto outcome = transact(*database, options, [this](Transaction&) -> Status {
            clock.advance(9s + 500ms);
            return {};
        });
        ASSERT_TRUE(outcome.unknown());
    }
    EXPECT_EQ(breaker(), Breaker::State::closed);
}

TEST_F(ShortDeadlineTest, ARefusalCountsHoweverLittleTimeWasLeft) {
    options.retry = Policy::once();
    for (int i = 0; i < 10; ++i) {
        server.connect_failures = {failure(Fault::unavailable, "nothing listens there")};
        options.deadline = Deadline::after(clock.now(), 100ms);
        (void)insert();
    }
    EXPECT_EQ(breaker(), Breaker::State::open);
}

TEST_F(ShortDeadlineTest, DoesNotCloseTheBreakerEither) {
    DatabaseOptions how;
    how.breaker = {.attempts_min = 1, .open_for = 5s, .probes = 1};
    database = Database::create(connect_to(server), how, clock, random).value();
    refuse_connections(1s);
    clock.advance(5s);
    refuse_connections(999ms);
    EXPECT_EQ(breaker(), Breaker::State::half_open) << "the probe came back as if it had not been given";
    options.deadline = Deadline::after(clock.now(), 1s);
    EXPECT_TRUE(insert().committed());
    EXPECT_EQ(breaker(), Breaker::State::closed);
}

}  // namespace
}  // namespace semel
