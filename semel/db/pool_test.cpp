#include "semel/db/pool.hpp"

#include "semel/base/log.hpp"
#include "semel/db/fake_session_test.hpp"
#include "semel/testing/manual_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace semel {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class PoolTest : public ::testing::Test {
protected:
    static PoolLimits limits() {
        PoolLimits limits;
        limits.size = 1;
        limits.queue = 2;
        limits.acquire_timeout = 5s;
        return limits;
    }

    Result<Pool::Loan> acquire() { return pool.acquire(Deadline::never()); }

    FakeServer server;
    semel::testing::ManualClock clock{semel::testing::ManualClock::Waiting::blocks};
    SeededRandom random{1};
    Pool pool{connect_to(server), limits(), clock, random};
};

TEST_F(PoolTest, OpensASessionOnceAndLendsItAgain) {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(acquire());
    EXPECT_EQ(server.count("connect"), 1U);
}

TEST_F(PoolTest, LendsAThreadTheSessionThatItHadLast) {
    PoolLimits two = limits();
    two.size = 2;
    Pool shared{connect_to(server), two, clock, random};
    const auto borrow = [&] { return shared.acquire(Deadline::never()).value(); };
    auto held = std::optional(borrow());
    const Session* mine = &**held;
    std::jthread([&] {
        const Session* theirs = &*borrow();
        EXPECT_NE(theirs, mine);
        held.reset();  // Now ours came back last.
        EXPECT_EQ(&*borrow(), theirs);
    }).join();
    EXPECT_EQ(&*borrow(), mine) << "theirs came back last";
}

TEST_F(PoolTest, FailsAWaiterWithinItsTimeoutAndNamesTheBorrower) {
    const auto held = acquire();
    std::optional<Error> error;
    std::jthread waiter([&] {
        auto refused = acquire();
        if (!refused) error = refused.error();
    });
    clock.await_waiters(1);
    clock.advance(5s);
    waiter.join();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->fault, Fault::throttled);
    EXPECT_EQ(error->cause.timeout, Timeout::pool);
    EXPECT_THAT(error->message, HasSubstr("none of 1 sessions came free in time"));
    EXPECT_THAT(error->cause.hint, HasSubstr("pool_test.cpp"));
    EXPECT_EQ(pool.usage().waiting, 0U);
}

TEST_F(PoolTest, ADeadlineBeforeTheTimeoutEndsTheWait) {
    const auto held = acquire();
    std::optional<Error> error;
    std::jthread waiter([&] {
        auto refused = pool.acquire(Deadline::after(clock.now(), 1s));
        if (!refused) error = refused.error();
    });
    clock.await_waiters(1);
    clock.advance(1s);
    waiter.join();
    ASSERT_TRUE(error);
}

TEST_F(PoolTest, RefusesAtOnceWhenTheQueueIsFull) {
    auto held = acquire();
    std::jthread first([&] { EXPECT_TRUE(acquire()); });
    std::jthread second([&] { EXPECT_TRUE(acquire()); });
    clock.await_waiters(2);
    const auto refused = acquire();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("2 callers already wait"));
    held->give_back();
}

TEST_F(PoolTest, AStopRequestEndsTheWait) {
    const auto held = acquire();
    std::stop_source stopping;
    std::optional<Error> error;
    std::jthread waiter([&] {
        auto refused = pool.acquire(Deadline::never(), stopping.get_token());
        if (!refused) error = refused.error();
    });
    clock.await_waiters(1);
    stopping.request_stop();
    waiter.join();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->cause.stop, Stop::stopped);
}

TEST_F(PoolTest, ClosesASessionThatComesBackInMidTransaction) {
    {
        auto loan = acquire();
        ASSERT_TRUE((*loan)->begin({}, Deadline::never()));
    }
    EXPECT_EQ(server.open, 0);
    ASSERT_TRUE(acquire());
    EXPECT_EQ(server.count("connect"), 2U);
}

TEST_F(PoolTest, ReplacesAnIdleSessionThatNoLongerAnswers) {
    ASSERT_TRUE(acquire());
    clock.advance(10s);
    server.resets = {fail(failure(Fault::unavailable, "gone"))};
    ASSERT_TRUE(acquire());
    EXPECT_EQ(server.log, (std::vector<std::string>{"connect", "reset", "connect"}));
}

TEST_F(PoolTest, KeepsNoSlotOfAConnectionThatFailed) {
    server.connect_failures = {failure(Fault::unavailable, "refused")};
    const auto refused = acquire();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "refused");
    EXPECT_EQ(pool.usage().in_use, 0U);
    EXPECT_TRUE(acquire());
}

TEST_F(PoolTest, KeepsASessionThatWasOpenedTooLateForWhoAskedForIt) {
    const Connect connect = connect_to(server);
    Pool slow(
        [&](Deadline deadline) {
            EXPECT_GE(deadline.remaining(clock.now()), 100ms) << "a connection is worth more than one caller";
            clock.advance(20ms);
            return connect(deadline);
        },
        limits(), clock, random);
    const auto late = slow.acquire(Deadline::after(clock.now(), 2ms));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().fault, Fault::unavailable);
    EXPECT_EQ(late.error().cause.timeout, Timeout::total);
    EXPECT_EQ(slow.usage().in_use, 0U);
    EXPECT_EQ(slow.usage().open, 1U);
    EXPECT_TRUE(slow.acquire(Deadline::after(clock.now(), 2ms)));
    EXPECT_EQ(server.count("connect"), 1U);
}

TEST_F(PoolTest, GivesAConnectionAsLongAsWhoAskedForIt) {
    std::vector<Duration> given;
    Pool watched(
        [&](Deadline deadline) {
            given.push_back(deadline.remaining(clock.now()));
            return connect_to(server)(deadline);
        },
        limits(), clock, random);
    EXPECT_TRUE(watched.acquire(Deadline::after(clock.now(), 3s)));
    EXPECT_EQ(given, (std::vector<Duration>{3s}));
}

TEST_F(PoolTest, ReportsWhoHeldASessionTooLong) {
    std::vector<std::string> lines;
    set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
    {
        const auto held = acquire();
        clock.advance(2min);
        ASSERT_EQ(pool.leaks().size(), 1U);
        EXPECT_EQ(pool.leaks().front().since, 2min);
    }
    set_log_sink(nullptr);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_THAT(lines.front(), HasSubstr("a session came back late: 120.0 s, borrowed at"));
    EXPECT_TRUE(pool.leaks().empty());
}

TEST(PoolRace, ServesManyThreadsWithFewSessionsAndLeaksNone) {
    std::mutex mutex;
    int open = 0;
    int open_max = 0;
    std::deque<FakeServer> servers;  // One per session: their logs are not thread-safe.
    Connect connect = [&](Deadline) -> Result<std::unique_ptr<Session>> {
        const std::lock_guard guard(mutex);
        open_max = std::max(open_max, ++open);
        return std::make_unique<FakeSession>(servers.emplace_back());
    };
    PoolLimits limits;
    limits.size = 3;
    Pool pool(connect, limits, system_clock(), system_random());  // tidy: allow(real-clock): threads race for real here
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 16; ++i)
            threads.emplace_back([&] {
                for (int n = 0; n < 200; ++n) {
                    auto loan = pool.acquire(Deadline::never());
                    ASSERT_TRUE(loan);
                    ASSERT_TRUE((*loan)->begin({}, Deadline::never()));
                    if (n % 7 == 0) {  // Comes back in mid-transaction, so it is closed.
                        const std::lock_guard guard(mutex);
                        --open;
                    } else {
                        ASSERT_TRUE((*loan)->rollback(Deadline::never()));
                    }
                }
            });
    }
    EXPECT_EQ(pool.usage().in_use, 0U);
    EXPECT_EQ(pool.usage().waiting, 0U);
    EXPECT_LE(open_max, 3);
}

}  // namespace
}  // namespace semel
