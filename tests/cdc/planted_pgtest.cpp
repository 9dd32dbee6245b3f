// The tests are tested: with each of these bugs planted, the test that guards against it must fail.

#include "semel/testing/process.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace semel::cdc {
namespace {

struct Planted {
    const char* bug;
    const char* caught_by;
};

class CdcPlanted : public ::testing::TestWithParam<Planted> {};

TEST_P(CdcPlanted, IsCaught) {
    const auto run = [](const std::string& mutant) {
        testing::Command command;
        command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                        std::string("--gtest_filter=") + GetParam().caught_by, "--gtest_brief=1"};
        command.environment = {"SEMEL_CDC_TEST_PATIENCE=10"};
        if (!mutant.empty()) command.environment.push_back("SEMEL_MUTANT=" + mutant);
        return testing::run(command, std::chrono::minutes(3)).value();
    };
    const auto broken = run(GetParam().bug);
    EXPECT_EQ(broken.exit.code, 1) << broken.exit.text() << "\n" << broken.output;
    EXPECT_NE(broken.output.find("[  FAILED  ]"), std::string::npos) << broken.output;
}

INSTANTIATE_TEST_SUITE_P(
    Bugs, CdcPlanted,
    ::testing::Values(Planted{"cdc.no_barrier", "CdcStandby.DownNothingIsPublishedThatAPromotionWouldLose"},
                      Planted{"cdc.overtake", "CdcPoison.IsParkedWithItsFollowersAndRedrivenInOrder"},
                      Planted{"cdc.stream_before_drain",
                              "CdcSwitch.APendingEventLeavesBeforeWhatFollowsItThroughTheLog"},
                      Planted{"cdc.confirm_before_settle", "CdcPoison.ASinkThatIsAwayCostsNoWrite"},
                      Planted{"cdc.loss_not_noted", "CdcCrash.BetweenTheLossOfASlotAndTheEndOfItsBackfillLosesNothing"},
                      Planted{"cdc.end_early", "CdcSwitch.BackWaitsForTransactionsThatWentThroughTheLog"},
                      Planted{"cdc.no_backfill", "CdcSlot.WhatIsAppendedWhileThereIsNoSlotIsSentFromTheTable"}),
    [](const auto& planted) {
        std::string name = planted.param.bug;
        for (char& c : name)
            if (c == '.') c = '_';
        return name;
    });

}  // namespace
}  // namespace semel::cdc
