#include "semel/call/verdict.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr AskPolicy policy{.grace = seconds(5), .asks_max = 3};

Call call(CallStatus status, Capability capability, Duration ends_in = -seconds(60)) {
    Call made;
    made.status = status;
    made.capability = capability;
    made.ends_in = ends_in;
    return made;
}

TEST(NextStep, MakesACallThatNobodyIntended) { EXPECT_EQ(next_step(std::nullopt, policy), CallStep::perform); }

TEST(NextStep, AnswersWhatIsKnownFromTheJournal) {
    for (const auto capability : {Capability::takes_key, Capability::queryable, Capability::neither}) {
        EXPECT_EQ(next_step(call(CallStatus::confirmed, capability), policy), CallStep::answer);
        EXPECT_EQ(next_step(call(CallStatus::failed, capability), policy), CallStep::answer);
    }
}

TEST(NextStep, MakesACallAgainThatWasCertainlyNotDone) {
    for (const auto capability : {Capability::takes_key, Capability::queryable, Capability::neither}) {
        Call failed = call(CallStatus::failed, capability);
        failed.may_retry = true;
        EXPECT_EQ(next_step(failed, policy), CallStep::perform);
    }
}

TEST(NextStep, WaitsUntilACallIsOverAndAGraceLonger) {
    for (const auto status : {CallStatus::intended, CallStatus::unknown}) {
        for (const auto capability : {Capability::takes_key, Capability::queryable, Capability::neither}) {
            EXPECT_EQ(next_step(call(status, capability, seconds(1)), policy), CallStep::too_early);
            EXPECT_EQ(next_step(call(status, capability, -seconds(5) + milliseconds(1)), policy), CallStep::too_early);
            EXPECT_NE(next_step(call(status, capability, -seconds(5)), policy), CallStep::too_early);
        }
    }
}

TEST(NextStep, RepeatsAnOpenCallOnlyWhereTheOtherSideTakesAKey) {
    for (const auto status : {CallStatus::intended, CallStatus::unknown}) {
        EXPECT_EQ(next_step(call(status, Capability::takes_key), policy), CallStep::repeat);
        EXPECT_EQ(next_step(call(status, Capability::queryable), policy), CallStep::query);
        EXPECT_EQ(next_step(call(status, Capability::neither), policy), CallStep::person);
    }
}

TEST(NextStep, NeverRepeatsWithoutAKeyHoweverOftenTheOtherSideKnowsNothing) {
    for (std::int64_t asks = 0; asks < 10; ++asks) {
        for (const auto capability : {Capability::queryable, Capability::neither}) {
            Call open = call(CallStatus::unknown, capability, -std::chrono::hours(1000));
            open.asks = asks;
            const CallStep step = next_step(open, policy);
            EXPECT_NE(step, CallStep::perform);
            EXPECT_NE(step, CallStep::repeat);
        }
    }
}

TEST(NextStep, AsksAPersonAfterHavingAskedInVain) {
    for (const auto capability : {Capability::takes_key, Capability::queryable}) {
        Call open = call(CallStatus::unknown, capability);
        open.asks = policy.asks_max - 1;
        EXPECT_NE(next_step(open, policy), CallStep::person);
        open.asks = policy.asks_max;
        EXPECT_EQ(next_step(open, policy), CallStep::person);
    }
}

}  // namespace
}  // namespace semel
