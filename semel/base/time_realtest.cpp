#include "semel/base/time.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace semel {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class SystemClockTest : public ::testing::Test {
protected:
    Clock& clock_ = system_clock();
    std::mutex mutex_;
    std::condition_variable_any condition_;
    bool waiting_ = false;
    bool told_ = false;

    /// Waits until told or until something else wakes it.
    Wake wait_until_told(Instant until, const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        waiting_ = true;
        while (!told_) {
            const Wake wake = clock_.wait(lock, condition_, until, stop);
            if (wake != Wake::notified) return wake;
        }
        return Wake::notified;
    }
    /// Runs `action` once the other thread has given the mutex away by waiting.
    void when_waiting(const std::function<void()>& action) {
        for (;;) {
            const std::lock_guard guard(mutex_);
            if (!waiting_) continue;
            action();
            return;
        }
    }
};

TEST_F(SystemClockTest, Advances) {
    const Instant before = clock_.now();
    EXPECT_EQ(clock_.sleep(before + milliseconds(5), {}), Wake::timeout);
    EXPECT_GE(clock_.now() - before, milliseconds(5));
    EXPECT_GT(clock_.wall(), Timestamp(std::chrono::sys_days(std::chrono::year(2025) / 1 / 1)));
}

TEST_F(SystemClockTest, WaitIsWokenByNotification) {
    std::jthread teller([&] {
        when_waiting([&] { told_ = true; });
        condition_.notify_all();
    });
    EXPECT_EQ(wait_until_told(clock_.now() + hours(1), {}), Wake::notified);
}

TEST_F(SystemClockTest, WaitWithoutEndIsWokenByNotification) {
    std::jthread teller([&] {
        when_waiting([&] { told_ = true; });
        condition_.notify_all();
    });
    EXPECT_EQ(wait_until_told(Instant::max(), {}), Wake::notified);
}

TEST_F(SystemClockTest, WaitIsWokenByStop) {
    for (const Instant until : {clock_.now() + hours(1), Instant::max()}) {
        std::stop_source stop;
        waiting_ = false;
        std::jthread stopper([&] {
            when_waiting([] {});
            stop.request_stop();
        });
        EXPECT_EQ(wait_until_told(until, stop.get_token()), Wake::stopped);
    }
}

TEST_F(SystemClockTest, StopBeforeTheWaitIsNotMissed) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(wait_until_told(Instant::max(), stop.get_token()), Wake::stopped);
    EXPECT_EQ(clock_.sleep(clock_.now() + hours(1), stop.get_token()), Wake::stopped);
}

TEST_F(SystemClockTest, TimeThatHasPassedEndsTheWaitAtOnce) {
    EXPECT_EQ(wait_until_told(clock_.now() - milliseconds(1), {}), Wake::timeout);
    EXPECT_EQ(clock_.sleep(clock_.now() - milliseconds(1), {}), Wake::timeout);
}

TEST_F(SystemClockTest, StopMayComeFromAThreadThatHoldsTheMutex) {
    std::stop_source stop;
    std::jthread stopper([&] { when_waiting([&] { stop.request_stop(); }); });
    EXPECT_EQ(wait_until_told(Instant::max(), stop.get_token()), Wake::stopped);
}

}  // namespace
}  // namespace semel
