#include "semel/retry/rule.hpp"

#include <gtest/gtest.h>

#include <array>

namespace semel {
namespace {

using enum Fault;

constexpr std::array rules = {
    Rule{"22*", "class", rejected, rejected, rejected, false, "A class."},
    Rule{"220*", "narrower class", broken, broken, broken, false, "A class within it."},
    Rule{"22001", "its own row", unavailable, conflict, unknown, true, "A code."},
};

TEST(Rule, ACodesOwnRowGoesBeforeItsClass) {
    EXPECT_EQ(find(rules, "22001")->name, "its own row");
    EXPECT_EQ(find(rules, "22002")->name, "narrower class");
    EXPECT_EQ(find(rules, "22P02")->name, "class");
    EXPECT_EQ(find(rules, "23505"), nullptr);
    EXPECT_EQ(find(rules, "2"), nullptr);
}

TEST(Rule, ThePhaseChoosesTheFault) {
    EXPECT_EQ(classify(rules, "22001", Phase::connect), unavailable);
    EXPECT_EQ(classify(rules, "22001", Phase::transaction), conflict);
    EXPECT_EQ(classify(rules, "22001", Phase::commit), unknown);
}

TEST(Rule, AnUnclassifiedCodeIsNotRetryable) {
    for (const Phase phase : {Phase::connect, Phase::transaction, Phase::commit}) {
        EXPECT_EQ(classify(rules, "99999", phase), rejected);
        EXPECT_FALSE(retryable(classify(rules, "99999", phase)));
    }
}

TEST(Rule, NoAnswerIsUnknownOnlyAtCommit) {
    EXPECT_EQ(classify(rules, "", Phase::connect), unavailable);
    EXPECT_EQ(classify(rules, "", Phase::transaction), unavailable);
    EXPECT_EQ(classify(rules, "", Phase::commit), unknown);
}

TEST(Rule, FaultsSayWhetherToRetryAndWhetherThatNeedsIdempotency) {
    static_assert(retryable(conflict) && retryable(unavailable) && retryable(throttled) && retryable(unknown));
    static_assert(!retryable(rejected) && !retryable(broken));
    static_assert(needs_idempotency(unknown));
    static_assert(!needs_idempotency(conflict) && !needs_idempotency(unavailable) && !needs_idempotency(throttled));
}

TEST(Rule, ATableWithACodeTwiceOrARowWithoutReasonIsNotWellFormed) {
    static_assert(well_formed(rules));
    static_assert(!well_formed(std::array{rules[0], rules[1], rules[0]}));
    static_assert(!well_formed(std::array{Rule{"1", "name", rejected, rejected, rejected, false, ""}}));
}

}  // namespace
}  // namespace semel
