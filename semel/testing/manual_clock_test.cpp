#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <future>

namespace semel::testing {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

/// A wait with nobody to notify it; it may wake spuriously all the same.
Wake wait(Clock& clock, Instant until, const std::stop_token& stop = {}) {
    std::mutex mutex;
    std::condition_variable_any condition;
    std::unique_lock lock(mutex);
    for (;;) {
        const Wake wake = clock.wait(lock, condition, until, stop);
        if (wake != Wake::notified) return wake;
    }
}

TEST(ManualClock, MovesOnlyWhenTold) {
    ManualClock clock;
    const Instant start = clock.now();
    const Timestamp calendar = clock.wall();
    EXPECT_EQ(clock.now(), start);
    clock.advance(seconds(3));
    EXPECT_EQ(clock.now() - start, seconds(3));
    EXPECT_EQ(clock.wall() - calendar, seconds(3));
    clock.set_wall(calendar - hours(1));
    EXPECT_EQ(clock.wall(), calendar - hours(1));
    EXPECT_EQ(clock.now() - start, seconds(3));
}

TEST(ManualClock, JumpsToTheEndOfAWait) {
    ManualClock clock;
    const Instant end = clock.now() + hours(5);
    EXPECT_EQ(wait(clock, end), Wake::timeout);
    EXPECT_EQ(clock.now(), end);
    EXPECT_EQ(clock.sleep(end + hours(1), {}), Wake::timeout);
    EXPECT_EQ(clock.now(), end + hours(1));
}

TEST(ManualClock, DoesNotJumpBackToAnEndThatHasPassed) {
    ManualClock clock;
    const Instant now = clock.now();
    EXPECT_EQ(wait(clock, now - seconds(1)), Wake::timeout);
    EXPECT_EQ(clock.now(), now);
}

TEST(ManualClock, StopComesBeforeTime) {
    ManualClock clock;
    std::stop_source stop;
    stop.request_stop();
    const Instant now = clock.now();
    EXPECT_EQ(wait(clock, now + seconds(1), stop.get_token()), Wake::stopped);
    EXPECT_EQ(clock.now(), now);
}

TEST(ManualClock, BlocksUntilTimeIsAdvancedFarEnough) {
    ManualClock clock(ManualClock::Waiting::blocks);
    const Instant end = clock.now() + seconds(10);
    auto woken = std::async(std::launch::async, [&] { return wait(clock, end); });
    clock.await_waiters(1);
    clock.advance(seconds(9));
    clock.advance(seconds(1));
    EXPECT_EQ(woken.get(), Wake::timeout);
}

TEST(ManualClock, BlockedWaitEndsByStop) {
    ManualClock clock(ManualClock::Waiting::blocks);
    std::stop_source stop;
    auto woken = std::async(std::launch::async, [&] { return wait(clock, Instant::max(), stop.get_token()); });
    clock.await_waiters(1);
    stop.request_stop();
    EXPECT_EQ(woken.get(), Wake::stopped);
}

TEST(ManualClock, BlockedWaitEndsByNotification) {
    ManualClock clock(ManualClock::Waiting::blocks);
    std::mutex mutex;
    std::condition_variable_any condition;
    bool told = false;
    auto woken = std::async(std::launch::async, [&] {
        std::unique_lock lock(mutex);
        while (!told) {
            const Wake wake = clock.wait(lock, condition, Instant::max(), {});
            if (wake != Wake::notified) return wake;
        }
        return Wake::notified;
    });
    clock.await_waiters(1);
    {
        const std::lock_guard guard(mutex);
        told = true;
    }
    condition.notify_all();
    EXPECT_EQ(woken.get(), Wake::notified);
}

}  // namespace
}  // namespace semel::testing
