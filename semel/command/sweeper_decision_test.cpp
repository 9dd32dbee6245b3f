#include "semel/command/sweeper_decision.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace semel {
namespace {

using std::chrono::seconds;

constexpr AskPolicy policy{.grace = seconds(5), .asks_max = 3};
constexpr std::int64_t attempts_max = 4;

Call call(CallStatus status, Capability capability, Duration ends_in = -seconds(60), std::int64_t asks = 0) {
    Call made;
    made.name = "charge";
    made.integration = "bank";
    made.status = status;
    made.capability = capability;
    made.ends_in = ends_in;
    made.asks = asks;
    return made;
}

SweepDecision swept(const std::vector<Call>& calls, std::int64_t attempts = 1, bool wrote = false) {
    return decide(attempts, wrote, calls, attempts_max, policy);
}

TEST(SweepDecision, RunsACommandThatCalledNobody) { EXPECT_EQ(swept({}).action, SweepAction::run); }

TEST(SweepDecision, RunsACommandWhoseCallsAreSettledOrCanBe) {
    EXPECT_EQ(
        swept({call(CallStatus::confirmed, Capability::neither), call(CallStatus::failed, Capability::neither),
               call(CallStatus::intended, Capability::takes_key), call(CallStatus::unknown, Capability::queryable)})
            .action,
        SweepAction::run);
}

TEST(SweepDecision, WaitsForTheLastCallThatMayStillBeUnderWay) {
    const SweepDecision decision = swept({call(CallStatus::intended, Capability::takes_key, seconds(3)),
                                          call(CallStatus::intended, Capability::takes_key, seconds(7)),
                                          call(CallStatus::confirmed, Capability::takes_key, seconds(100))});
    EXPECT_EQ(decision.action, SweepAction::wait);
    EXPECT_EQ(decision.wait, seconds(12));
}

TEST(SweepDecision, WaitsBeforeItHandsAnythingToAPerson) {
    const SweepDecision decision = swept(
        {call(CallStatus::unknown, Capability::neither), call(CallStatus::intended, Capability::takes_key, seconds(1))},
        attempts_max);
    EXPECT_EQ(decision.action, SweepAction::wait);
    EXPECT_EQ(decision.wait, seconds(6));
}

TEST(SweepDecision, HandsACallThatNobodyCanAskAboutToAPersonAndNamesIt) {
    for (const auto status : {CallStatus::intended, CallStatus::unknown}) {
        const SweepDecision decision = swept({call(status, Capability::neither)});
        EXPECT_EQ(decision.action, SweepAction::reconcile);
        EXPECT_NE(decision.reason.find("charge to bank"), std::string::npos) << decision.reason;
    }
}

TEST(SweepDecision, HandsACallThatWasAskedAboutInVainToAPerson) {
    for (const auto capability : {Capability::takes_key, Capability::queryable}) {
        EXPECT_EQ(swept({call(CallStatus::unknown, capability, -seconds(60), 2)}).action, SweepAction::run);
        EXPECT_EQ(swept({call(CallStatus::unknown, capability, -seconds(60), 3)}).action, SweepAction::reconcile);
    }
}

TEST(SweepDecision, FailsACommandOutOfAttemptsOnlyIfNothingOfItHappened) {
    EXPECT_EQ(swept({}, attempts_max - 1).action, SweepAction::run);
    EXPECT_EQ(swept({}, attempts_max).action, SweepAction::fail);
    EXPECT_EQ(swept({call(CallStatus::failed, Capability::neither)}, attempts_max).action, SweepAction::fail);
    EXPECT_EQ(swept({}, attempts_max, true).action, SweepAction::reconcile);
    for (const auto status : {CallStatus::confirmed, CallStatus::unknown, CallStatus::intended})
        EXPECT_EQ(swept({call(status, Capability::takes_key)}, attempts_max).action, SweepAction::reconcile);
}

}  // namespace
}  // namespace semel
