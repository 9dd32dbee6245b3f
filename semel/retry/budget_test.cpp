#include "semel/retry/budget.hpp"

#include "semel/base/random.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace semel {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{1h};

int spend_all(Budget& budget, Instant now) {
    int spent = 0;
    while (budget.try_spend(now)) ++spent;
    return spent;
}

TEST(Budget, FloorLetsLowTrafficRetry) {
    Budget budget({.retry_percent = 20, .floor_per_second = 10, .window = 10s});
    EXPECT_EQ(budget.left(start), 100 * Budget::retry_cost);
    EXPECT_EQ(spend_all(budget, start), 100);
    EXPECT_EQ(budget.left(start), 0);
}

TEST(Budget, FirstTriesPayForAShareOfRetriesRoundedDown) {
    Budget budget({.retry_percent = 60, .floor_per_second = 0, .window = 10s});
    budget.on_attempt(start);
    EXPECT_EQ(budget.left(start), 600);
    EXPECT_FALSE(budget.try_spend(start));  // Six tenths of a retry are no retry.
    budget.on_attempt(start);
    EXPECT_EQ(spend_all(budget, start), 1);
    EXPECT_EQ(budget.left(start), 200);
    for (int i = 0; i < 98; ++i) budget.on_attempt(start);
    EXPECT_EQ(spend_all(budget, start), 59);
    EXPECT_EQ(budget.left(start), 0);
}

TEST(Budget, RefusesWithoutTakingAnything) {
    Budget budget({.retry_percent = 50, .floor_per_second = 0, .window = 10s});
    budget.on_attempt(start);
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(budget.try_spend(start));
    EXPECT_EQ(budget.left(start), 500);
}

TEST(Budget, ForgetsDepositsAndRetriesAfterTheWindow) {
    Budget budget({.retry_percent = 100, .floor_per_second = 1, .window = 10s});
    for (int i = 0; i < 5; ++i) budget.on_attempt(start);
    EXPECT_EQ(spend_all(budget, start), 15);
    EXPECT_EQ(budget.left(start + 9s), 0);
    EXPECT_EQ(budget.left(start + 10s), 10 * Budget::retry_cost);  // The floor alone.
    EXPECT_EQ(spend_all(budget, start + 10s), 10);
}

TEST(Budget, DoesNotSaveUpWhatWasNotSpent) {
    Budget budget({.retry_percent = 100, .floor_per_second = 0, .window = 1s});
    for (int i = 0; i < 1000; ++i) budget.on_attempt(start + i * 10ms);
    const Instant end = start + 9990ms;
    EXPECT_LE(budget.left(end), 100 * Budget::retry_cost);
    EXPECT_GE(budget.left(end), 90 * Budget::retry_cost);
}

TEST(Budget, NeverGrantsMoreThanThePercentageAndTheFloorOverAnyWindow) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SeededRandom random(seed);
        const BudgetSpec spec{.retry_percent = static_cast<std::uint32_t>(random.below(101)),
                              .floor_per_second = static_cast<std::uint32_t>(1 + random.below(5)),
                              .window = std::chrono::milliseconds(1000 + 10 * random.below(1000))};
        Budget budget(spec);
        const Duration slot = spec.window / 10;
        struct Event {
            std::int64_t slot;
            bool retry;
        };
        std::vector<Event> events;
        Instant now = start;
        for (int step = 0; step < 1500; ++step) {
            now += Duration(static_cast<std::int64_t>(random.below(30'000'000)));
            const std::int64_t epoch = now.time_since_epoch() / slot;
            if (random.below(3) != 0) {
                budget.on_attempt(now);
                events.push_back({epoch, false});
            } else if (budget.try_spend(now)) {
                events.push_back({epoch, true});
            }
            std::int64_t allowed = spec.floor_per_second * (spec.window / 1ms);
            for (const Event& event : events) {
                if (epoch - event.slot >= 10) continue;
                allowed += event.retry ? -1000 : std::int64_t{spec.retry_percent} * 10;
            }
            // Deposits that pay and are then forgotten can leave a debt; it is never made larger.
            ASSERT_EQ(budget.left(now), allowed) << "seed " << seed << " step " << step;
        }
    }
}

TEST(Budget, ThreadsTogetherSpendNoMoreThanThereIs) {
    Budget budget({.retry_percent = 10, .floor_per_second = 0, .window = 10s});
    std::atomic<int> spent = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int j = 0; j < 5000; ++j) {
                    budget.on_attempt(start);
                    if (budget.try_spend(start)) ++spent;
                }
            });
        }
    }
    EXPECT_EQ(spent + spend_all(budget, start), 2000);
}

TEST(Budget, ThreadsThatTurnASlotTogetherLoseNoDeposit) {
    Budget budget({.retry_percent = 100, .floor_per_second = 0, .window = 10s});
    for (int round = 1; round <= 200; ++round) {
        const Instant now = start + round * 20s;
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i) threads.emplace_back([&] { budget.on_attempt(now); });
        threads.clear();
        ASSERT_EQ(budget.left(now), 3 * Budget::retry_cost);
    }
}

TEST(Budget, BadSpecIsAnErrorThatNamesTheField) {
    const auto message = [](const BudgetSpec& spec) { return Budget::create(spec).error().message; };
    EXPECT_EQ(message({.retry_percent = 101}), "retry budget: retry_percent must be from 0 to 100, not 101");
    EXPECT_TRUE(message({.floor_per_second = 1'000'001}).starts_with("retry budget: floor_per_second must be"));
    EXPECT_TRUE(message({.window = 999ms}).starts_with("retry budget: window must be from 1s to 60s"));
    EXPECT_TRUE(message({.window = 61s}).starts_with("retry budget: window must be from 1s to 60s"));
    EXPECT_TRUE(message({.retry_percent = 0, .floor_per_second = 0}).contains("both be 0"));
    EXPECT_EQ(Budget::create({.retry_percent = 101}).error().fault, Fault::rejected);
    EXPECT_TRUE(Budget::create({}).has_value());
}

}  // namespace
}  // namespace semel
