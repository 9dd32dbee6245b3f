#include "semel/command/transition.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace semel {
namespace {

const GuardedTransition accept{.from = {"draft", "sent"}, .to = "accepted", .expected_version = 4};
const GuardedTransition accept_any{.from = {"draft", "sent"}, .to = "accepted", .expected_version = std::nullopt};

Applied with(const GuardedTransition& transition, std::int64_t updated, const std::optional<FoundState>& found = {}) {
    const auto applied = interpret(transition, updated, found);
    EXPECT_TRUE(applied) << applied.error().describe();
    return applied.value_or(Applied::missing);
}

TEST(GuardedTransition, OneRowMeansThatThisTransactionDidIt) {
    EXPECT_EQ(with(accept, 1), Applied::applied);
    EXPECT_EQ(with(accept_any, 1), Applied::applied);
    EXPECT_EQ(with(accept, 1, FoundState{"cancelled", 9}), Applied::applied) << "the count outranks what was read";
}

TEST(GuardedTransition, NoRowIsExplainedByWhatIsThere) {
    EXPECT_EQ(with(accept, 0), Applied::missing);
    EXPECT_EQ(with(accept, 0, FoundState{"accepted", 5}), Applied::already_applied);
    EXPECT_EQ(with(accept, 0, FoundState{"accepted", 6}), Applied::stale) << "accepted, and changed since";
    EXPECT_EQ(with(accept, 0, FoundState{"draft", 5}), Applied::stale);
    EXPECT_EQ(with(accept, 0, FoundState{"cancelled", 5}), Applied::stale) << "an outdated version comes first";
    EXPECT_EQ(with(accept, 0, FoundState{"cancelled", 4}), Applied::invalid);
    EXPECT_EQ(with(accept, 0, FoundState{"accepted", 4}), Applied::invalid) << "the same version: nobody did this step";
    EXPECT_EQ(with(accept, 0, FoundState{"draft", 4}), Applied::stale) << "it changed between the two statements";
}

TEST(GuardedTransition, AVersionFromOutsideMayBeAnyNumber) {
    GuardedTransition last = accept;
    last.expected_version = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(with(last, 0, FoundState{"accepted", 5}), Applied::stale);
    EXPECT_EQ(with(last, 0, FoundState{"accepted", std::numeric_limits<std::int64_t>::min()}), Applied::stale);
}

TEST(GuardedTransition, WithoutAVersionNobodyCanTellARepeatFromAStranger) {
    EXPECT_EQ(with(accept_any, 0), Applied::missing);
    EXPECT_EQ(with(accept_any, 0, FoundState{"accepted", 5}), Applied::invalid);
    EXPECT_EQ(with(accept_any, 0, FoundState{"cancelled", 5}), Applied::invalid);
    EXPECT_EQ(with(accept_any, 0, FoundState{"draft", 5}), Applied::stale);
}

TEST(GuardedTransition, AnyOtherCountIsABugAndSaysSo) {
    for (const std::int64_t count : {std::int64_t{2}, std::int64_t{1000}, std::int64_t{-1}}) {
        const auto refused = interpret(accept, count, FoundState{"draft", 4});
        ASSERT_FALSE(refused) << count;
        EXPECT_EQ(refused.error().fault, Fault::broken);
        EXPECT_NE(refused.error().message.find(std::to_string(count)), std::string::npos);
    }
}

TEST(GuardedTransition, NamesEveryResult) {
    std::set<std::string_view> names;
    for (const Applied applied :
         {Applied::applied, Applied::already_applied, Applied::stale, Applied::invalid, Applied::missing})
        EXPECT_TRUE(names.insert(name(applied)).second);
}

}  // namespace
}  // namespace semel
