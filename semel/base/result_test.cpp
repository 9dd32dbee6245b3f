#include "semel/base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace semel {
namespace {

Result<int> half(int number) {
    if (number % 2 != 0) return fail(Fault::rejected, "odd");
    return number / 2;
}
Status check(bool fine) {
    if (!fine) return fail(Fault::conflict, "lost");
    return {};
}
Result<int> quarter(int number) {
    const int once = SEMEL_TRY(half(number));
    return SEMEL_TRY(half(once)) + 0;
}

TEST(Result, TryGivesTheValueOrReturnsTheError) {
    EXPECT_EQ(quarter(8).value(), 2);
    EXPECT_EQ(quarter(6).error().message, "odd");
    EXPECT_EQ(quarter(7).error().fault, Fault::rejected);
}

TEST(Result, TryWorksOnAStatusAndStopsThere) {
    int reached = 0;
    const auto both = [&](bool first, bool second) -> Status {
        SEMEL_TRY(check(first));
        ++reached;
        SEMEL_TRY(check(second));
        ++reached;
        return {};
    };
    EXPECT_TRUE(both(true, true));
    EXPECT_EQ(reached, 2);
    EXPECT_EQ(both(false, true).error().fault, Fault::conflict);
    EXPECT_EQ(reached, 2);
}

TEST(Result, TryMovesWhatCannotBeCopied) {
    const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(3); };
    const auto use = [&]() -> Result<int> {
        const std::unique_ptr<int> made = SEMEL_TRY(make());
        return *made;
    };
    EXPECT_EQ(use().value(), 3);
}

TEST(Error, WithinPutsTheOuterContextFirst) {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "refused";
    error.native = "theirs";
    const Error outer = std::move(error).within("begin").within("claim key");
    EXPECT_EQ(outer.message, "claim key: begin: refused");
    EXPECT_EQ(outer.fault, Fault::unavailable);
    EXPECT_EQ(outer.native, "theirs");
}

TEST(Error, DescribeTellsEverythingAnOperatorNeeds) {
    Error error;
    error.message = "insert";
    EXPECT_EQ(error.describe(), "insert");
    error.native = "ERROR: deadlock detected";
    error.cause.code = "40P01";
    error.cause.timeout = Timeout::lock;
    error.cause.stop = Stop::attempts;
    error.cause.attempts = 3;
    error.cause.hint = "look for two orders of locking";
    EXPECT_EQ(error.describe(),
              "insert [40P01] (timeout: lock) (stopped retrying: attempts, attempts: 3); the other side said: ERROR: "
              "deadlock "
              "detected; look for two orders of locking");
}

TEST(Error, IsBrokenUnlessSomeoneKnowsBetter) { EXPECT_EQ(Error().fault, Fault::broken); }

TEST(ErrorNames, AreTheEnumerators) {
    EXPECT_EQ(name(Fault::rejected), "rejected");
    EXPECT_EQ(name(Fault::conflict), "conflict");
    EXPECT_EQ(name(Fault::unavailable), "unavailable");
    EXPECT_EQ(name(Fault::throttled), "throttled");
    EXPECT_EQ(name(Fault::unknown), "unknown");
    EXPECT_EQ(name(Fault::broken), "broken");
    EXPECT_EQ(name(Timeout::none), "none");
    EXPECT_EQ(name(Timeout::statement), "statement");
    EXPECT_EQ(name(Timeout::total), "total");
    EXPECT_EQ(name(Stop::not_repeatable), "not_repeatable");
    EXPECT_EQ(name(Stop::not_owner), "not_owner");
}

TEST(ErrorNamesDeathTest, NumberOutsideTheEnumerationAborts) {
    EXPECT_DEATH(static_cast<void>(name(static_cast<Fault>(99))), "a Fault outside its enumeration");
    EXPECT_DEATH(static_cast<void>(name(static_cast<Timeout>(99))), "a Timeout outside its enumeration");
    EXPECT_DEATH(static_cast<void>(name(static_cast<Stop>(99))), "a Stop outside its enumeration");
}

}  // namespace
}  // namespace semel
