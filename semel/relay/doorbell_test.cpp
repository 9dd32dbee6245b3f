#include "semel/relay/doorbell.hpp"

#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;

TEST(Doorbell, WakesWhoeverWaits) {
    ManualClock clock(ManualClock::Waiting::blocks);
    LocalDoorbell bell(clock);
    const Instant begun = clock.now();
    std::jthread waiting([&] { bell.wait(bell.rings(), begun + 1h, {}); });
    clock.await_waiters(1);
    bell.ring();
    waiting.join();
    EXPECT_EQ(clock.now(), begun);
}

TEST(Doorbell, IsHeardByWhoeverComesLate) {
    ManualClock clock;
    LocalDoorbell bell(clock);
    const Instant begun = clock.now();
    const std::uint64_t heard = bell.rings();
    bell.ring();
    bell.wait(heard, begun + 1h, {});
    EXPECT_EQ(clock.now(), begun) << "it rang before, so there is nothing to wait for";
    bell.wait(bell.rings(), begun + 1h, {});
    EXPECT_EQ(clock.now(), begun + 1h) << "and with nobody at the door the time runs out";
}

TEST(Doorbell, IsLeftWhenStopped) {
    ManualClock clock(ManualClock::Waiting::blocks);
    LocalDoorbell bell(clock);
    std::jthread waiting([&](const std::stop_token& stop) { bell.wait(0, clock.now() + 1h, stop); });
    clock.await_waiters(1);
    waiting.request_stop();
    waiting.join();
    EXPECT_EQ(bell.rings(), 0U);
}

}  // namespace
}  // namespace semel
