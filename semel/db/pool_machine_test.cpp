#include "semel/db/pool_machine.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace semel {
namespace {

using namespace std::chrono_literals;
using Duty = PoolMachine::Duty;

constexpr Instant start{1h};

PoolLimits small() {
    PoolLimits limits;
    limits.size = 2;
    limits.queue = 2;
    limits.lifetime = 100s;
    limits.check_after_idle = 5s;
    return limits;
}

class PoolMachineTest : public ::testing::Test {
protected:
    PoolMachine::Assignment take(Instant now, std::optional<PoolMachine::Slot> preferred = {}) {
        const auto assignment = machine.acquire(now, std::source_location::current(), preferred);
        EXPECT_TRUE(assignment);
        if (assignment->duty == Duty::connect) machine.connected(assignment->slot, now);
        return *assignment;
    }

    SeededRandom random{1};
    PoolMachine machine{small(), random};
};

TEST_F(PoolMachineTest, OpensNoMoreSessionsThanItsSize) {
    EXPECT_EQ(take(start).duty, Duty::connect);
    EXPECT_EQ(take(start).duty, Duty::connect);
    EXPECT_FALSE(machine.acquire(start, std::source_location::current()));
    EXPECT_EQ(machine.in_use(), 2U);
}

TEST_F(PoolMachineTest, ReusesTheSessionThatCameBackLast) {
    const auto first = take(start);
    const auto second = take(start);
    (void)machine.release(first.slot, true, start);
    (void)machine.release(second.slot, true, start);
    const auto again = take(start);
    EXPECT_EQ(again.slot, second.slot);
    EXPECT_EQ(again.duty, Duty::use);
}

TEST_F(PoolMachineTest, GivesThePreferredSessionEvenIfAnotherCameBackLater) {
    const auto first = take(start);
    const auto second = take(start);
    (void)machine.release(first.slot, true, start);
    (void)machine.release(second.slot, true, start);
    const auto again = take(start, first.slot);
    EXPECT_EQ(again.slot, first.slot);
    EXPECT_EQ(again.duty, Duty::use);
    EXPECT_EQ(take(start, first.slot).slot, second.slot) << "the preferred one is in use";
    EXPECT_FALSE(machine.acquire(start, std::source_location::current(), first.slot));
    EXPECT_EQ(machine.in_use(), 2U);
}

TEST_F(PoolMachineTest, PrefersNoSessionThatWouldHaveToBeChecked) {
    const auto first = take(start);
    const auto second = take(start);
    (void)machine.release(first.slot, true, start);
    (void)machine.release(second.slot, true, start + 3s);
    const auto warm = take(start + 5s, first.slot);
    EXPECT_EQ(warm.slot, second.slot);
    EXPECT_EQ(warm.duty, Duty::use);
}

TEST_F(PoolMachineTest, TakesAPreferenceForAClosedOrUnknownSlotAsNone) {
    const auto first = take(start);
    const auto second = take(start);
    (void)machine.release(first.slot, false, start);
    (void)machine.release(second.slot, true, start);
    EXPECT_EQ(take(start, first.slot).slot, second.slot) << "the preferred slot holds no session";
    EXPECT_EQ(take(start, 99).slot, first.slot) << "a slot of some larger pool";
}

TEST_F(PoolMachineTest, LetsNobodyPassTheQueueForThePreferredSession) {
    const auto first = take(start);
    (void)take(start);
    (void)machine.enqueue();
    (void)machine.enqueue();
    (void)machine.release(first.slot, true, start);
    EXPECT_FALSE(machine.acquire(start, std::source_location::current(), first.slot));
}

TEST_F(PoolMachineTest, RefusesToQueuePastItsBound) {
    EXPECT_TRUE(machine.enqueue());
    EXPECT_TRUE(machine.enqueue());
    EXPECT_FALSE(machine.enqueue());
}

TEST_F(PoolMachineTest, ServesWhoeverWaitedLongestAndLetsNobodyPass) {
    const auto first = take(start);
    const auto second = take(start);
    const auto early = machine.enqueue();
    const auto late = machine.enqueue();
    const auto released = machine.release(first.slot, true, start);
    EXPECT_EQ(released.next, early);
    EXPECT_EQ(released.assignment.slot, first.slot);
    EXPECT_EQ(released.assignment.duty, Duty::use);
    EXPECT_FALSE(machine.acquire(start, std::source_location::current())) << "someone still waits";
    EXPECT_EQ(machine.release(second.slot, true, start).next, late);
    EXPECT_EQ(machine.in_use(), 2U) << "both only changed hands";
}

TEST_F(PoolMachineTest, ForgetsWhoeverLeftTheQueue) {
    const auto held = take(start);
    (void)take(start);
    const auto left = machine.enqueue();
    const auto stays = machine.enqueue();
    EXPECT_TRUE(machine.leave_queue(*left));
    EXPECT_FALSE(machine.leave_queue(*left));
    EXPECT_EQ(machine.release(held.slot, true, start).next, stays);
}

TEST_F(PoolMachineTest, ChecksASessionThatWasIdleForLong) {
    (void)machine.release(take(start).slot, true, start);
    EXPECT_EQ(take(start + 4s).duty, Duty::use);
}

TEST_F(PoolMachineTest, ChecksASessionPastItsIdleTime) {
    (void)machine.release(take(start).slot, true, start);
    EXPECT_EQ(take(start + 5s).duty, Duty::check);
}

TEST_F(PoolMachineTest, ClosesASessionThatIsNoLongerFit) {
    const auto held = take(start);
    EXPECT_TRUE(machine.release(held.slot, false, start).close);
    EXPECT_EQ(machine.open(), 0U);
    EXPECT_EQ(take(start).duty, Duty::connect);
}

TEST_F(PoolMachineTest, HandsTheSlotOfABrokenSessionToTheNextCallerToConnect) {
    const auto held = take(start);
    (void)take(start);
    const auto waiting = machine.enqueue();
    const auto released = machine.release(held.slot, false, start);
    EXPECT_TRUE(released.close);
    EXPECT_EQ(released.next, waiting);
    EXPECT_EQ(released.assignment.duty, Duty::connect);
}

TEST_F(PoolMachineTest, ReplacesASessionPastItsLifetime) {
    const auto held = take(start);
    EXPECT_TRUE(machine.release(held.slot, true, start + 100s).close);
}

TEST_F(PoolMachineTest, ReplacesAnIdleSessionPastItsLifetime) {
    (void)machine.release(take(start).slot, true, start);
    EXPECT_EQ(take(start + 100s).duty, Duty::connect);
}

TEST(PoolLifetime, EndsAtDifferentTimesForSessionsOpenedTogether) {
    PoolLimits limits = small();
    limits.size = 50;
    SeededRandom random(7);
    PoolMachine machine(limits, random);
    std::vector<PoolMachine::Slot> slots;
    for (std::size_t i = 0; i < limits.size; ++i) {
        const auto assignment = machine.acquire(start, std::source_location::current());
        machine.connected(assignment->slot, start);
        slots.push_back(assignment->slot);
    }
    // At 2.5 % before the end none is due, at the end all are, and in between some are.
    std::size_t closed = 0;
    for (const auto slot : slots) closed += machine.release(slot, true, start + 98750ms).close ? 1U : 0U;
    EXPECT_GT(closed, 10U);
    EXPECT_LT(closed, 40U);
}

TEST_F(PoolMachineTest, KnowsWhoHoldsASessionLongest) {
    EXPECT_FALSE(machine.held_longest(start));
    (void)machine.acquire(start, std::source_location::current());
    const auto line = std::source_location::current().line() - 1;
    (void)machine.acquire(start + 1s, std::source_location::current());
    const auto held = machine.held_longest(start + 10s);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->since, 10s);
    EXPECT_EQ(held->place.line(), line);
}

/// Random walks over every call: no slot is ever given to two callers.
TEST(PoolMachine, NeverGivesOneSlotToTwoCallers) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SeededRandom random(seed);
        PoolLimits limits = small();
        limits.size = 3;
        limits.queue = 4;
        PoolMachine machine(limits, random);
        std::set<PoolMachine::Slot> held;
        std::vector<PoolMachine::Ticket> tickets;
        Instant now = start;
        for (int step = 0; step < 300; ++step) {
            now += Duration(static_cast<std::int64_t>(random.below(3'000'000'000)));
            const auto grant = [&](PoolMachine::Assignment assignment) {
                EXPECT_TRUE(held.insert(assignment.slot).second) << "seed " << seed << " step " << step;
                if (assignment.duty == Duty::connect && random.below(4) != 0) machine.connected(assignment.slot, now);
            };
            switch (random.below(3)) {
                case 0:
                    if (const auto assignment = machine.acquire(now, std::source_location::current())) {
                        grant(*assignment);
                    } else if (const auto ticket = machine.enqueue()) {
                        tickets.push_back(*ticket);
                    }
                    break;
                case 1:
                    if (!held.empty()) {
                        const auto slot = *held.begin();
                        held.erase(held.begin());
                        const auto released = machine.release(slot, random.below(5) != 0, now);
                        if (released.next) {
                            EXPECT_EQ(*released.next, tickets.front());
                            tickets.erase(tickets.begin());
                            grant(released.assignment);
                        }
                    }
                    break;
                default:
                    if (!tickets.empty() && random.below(4) == 0) {
                        EXPECT_TRUE(machine.leave_queue(tickets.back()));
                        tickets.pop_back();
                    }
            }
            ASSERT_EQ(machine.in_use(), held.size());
            ASSERT_EQ(machine.waiting(), tickets.size());
            ASSERT_LE(held.size(), limits.size);
            if (!tickets.empty()) {
                ASSERT_EQ(held.size(), limits.size) << "someone waits while a slot is free";
            }
        }
    }
}

}  // namespace
}  // namespace semel
