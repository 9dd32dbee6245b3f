#include "semel/storm/overload.hpp"

#include <gtest/gtest.h>

namespace semel::storm {
namespace {

constexpr int overload_runs = 100;

int collapsed_of(const OverloadModel& model) {
    int collapsed = 0;
    for (int i = 0; i < overload_runs; ++i)
        collapsed += run(model, static_cast<std::uint64_t>(i) + 1).collapsed() ? 1 : 0;
    return collapsed;
}

TEST(StormOverload, AShortSpikeOftenLastsForEverWithoutABudget) {
    const int collapsed = collapsed_of({});
    EXPECT_GE(collapsed, 60) << "about seventy of a hundred, as published";
    EXPECT_LE(collapsed, 82);
}

TEST(StormOverload, WithABudgetOfTenPercentItNeverDoes) {
    OverloadModel model;
    model.budget = BudgetSpec{.retry_percent = 10, .floor_per_second = 0};
    EXPECT_EQ(collapsed_of(model), 0);
}

TEST(StormOverload, WithoutASpikeAndWithoutRetriesNothingCollapses) {
    OverloadModel calm;
    calm.spike = {};
    EXPECT_EQ(collapsed_of(calm), 0);
    OverloadModel once;
    once.attempts = 1;
    EXPECT_EQ(collapsed_of(once), 0);
}

TEST(StormOverload, AfterAStandstillBudgetAndBreakerBringItBack) {
    OverloadModel eager;
    eager.spike = {};
    eager.outage = {.from = 20, .to = 40};
    OverloadModel careful = eager;
    careful.budget = BudgetSpec{.retry_percent = 10, .floor_per_second = 0};
    careful.breaker = BreakerSpec{};
    EXPECT_GE(collapsed_of(eager), 95);
    EXPECT_EQ(collapsed_of(careful), 0);
    const auto back = run(careful, 1).recovered_after(40);
    ASSERT_TRUE(back);
    EXPECT_LE(*back, 60U);
    EXPECT_FALSE(run(eager, 1).recovered_after(40));
}

}  // namespace
}  // namespace semel::storm
