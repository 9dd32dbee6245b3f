#include "semel/base/log.hpp"
#include "semel/base/mutant.hpp"
#include "tests/simulation/campaign.hpp"
#include "tests/simulation/mutants.hpp"

#include <gtest/gtest.h>

namespace semel::simulation {
namespace {

class Simulation : public ::testing::Test {
protected:
    void SetUp() override { set_log_sink({}); }
};

TEST_F(Simulation, OfTheWholeProtocolViolatesNoInvariant) {
    const CampaignOptions options{.seeds = 400, .steps = 300};
    const CampaignReport report = run_campaign(options);
    EXPECT_FALSE(report.violation) << describe(report, options);
    EXPECT_EQ(report.runs, options.seeds);
    // A simulation in which nothing happens proves nothing.
    EXPECT_GT(report.effects, options.seeds) << describe(report, options);
}

TEST_F(Simulation, OfOneSeedIsTheSameEveryTime) {
    const RunPlan plan{.seed = 42, .steps = 500};
    const RunReport first = World(plan).run();
    const RunReport second = World(plan).run();
    EXPECT_EQ(first.steps, second.steps);
    EXPECT_EQ(first.simulated, second.simulated);
    EXPECT_EQ(first.effects, second.effects);
    EXPECT_EQ(first.troubles, second.troubles);
}

TEST_F(Simulation, RunsAThousandTimesFasterThanTheTimeItSimulates) {
    // By steps, which a busy machine does not blur: a step takes some ten microseconds, and stands for far more.
    const CampaignReport report = run_campaign({.seeds = 60, .steps = 300});
    constexpr Duration step_in_reality = std::chrono::microseconds(100);
    EXPECT_GT(report.simulated, step_in_reality * report.steps * 1000);
}

TEST_F(Simulation, MakesAViolationSmallerAndSaysHowToSeeItAgain) {
    const mutant::Mutant planted("effect_without_inbox_row");
    const CampaignOptions options{.seeds = 50, .steps = 400, .mutant = "effect_without_inbox_row"};
    const CampaignReport report = run_campaign(options);
    ASSERT_TRUE(report.violation);
    EXPECT_LT(report.failed.steps, options.steps);
    const RunReport again = World(report.failed).run();
    ASSERT_TRUE(again.violation);
    EXPECT_EQ(again.violation->invariant, report.violation->invariant);
    EXPECT_NE(describe(report, options).find("--seed " + std::to_string(report.failed.seed)), std::string::npos);
}

/// Most seeds that any of the bugs below has needed, and some more.
constexpr std::uint64_t seeds_enough = 1500;

class PlantedBugs : public ::testing::TestWithParam<PlantedBug> {
protected:
    void SetUp() override { set_log_sink({}); }
};

TEST_P(PlantedBugs, AreCaught) {
    const mutant::Mutant planted{std::string(GetParam().name)};
    const CampaignOptions options{
        .seeds = seeds_enough, .steps = 600, .mutant = std::string(GetParam().name), .shrink = false};
    const CampaignReport report = run_campaign(options);
    EXPECT_TRUE(report.violation) << GetParam().what << ": not noticed within " << report.runs << " seeds";
}

std::vector<PlantedBug> quickly_caught() {
    std::vector<PlantedBug> bugs;
    for (const PlantedBug& bug : planted_bugs())
        if (bug.simulated() && !bug.slow) bugs.push_back(bug);
    return bugs;
}

INSTANTIATE_TEST_SUITE_P(Simulated, PlantedBugs, ::testing::ValuesIn(quickly_caught()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace semel::simulation
