#include "semel/base/outcome.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace semel {
namespace {

// The third outcome must not be mistaken for one of two.
static_assert(!std::is_constructible_v<bool, Outcome<int>>);
static_assert(!std::is_constructible_v<bool, Outcome<>>);
static_assert(!std::is_convertible_v<Outcome<int>, int>);
static_assert(!std::is_default_constructible_v<Outcome<int>>);

template <class T>
concept HasValue = requires(const T& outcome) { outcome.value(); };
static_assert(HasValue<Outcome<int>>);
static_assert(!HasValue<Outcome<>>);

Error error(std::string message) {
    Error made;
    made.message = std::move(message);
    return made;
}

std::string told(const Outcome<int>& outcome) {
    return outcome.match([](const Committed<int>& c) { return "committed " + std::to_string(c.value); },
                         [](const NotCommitted& n) { return "not committed: " + n.error.message; },
                         [](const Unknown& u) { return "unknown: " + u.error.message; });
}

TEST(Outcome, IsExactlyOneOfThree) {
    const Outcome<int> committed = Committed<int>{7};
    const Outcome<int> failed = NotCommitted{error("refused")};
    const Outcome<int> unknown = Unknown{error("no answer")};
    EXPECT_TRUE(committed.committed() && !committed.not_committed() && !committed.unknown());
    EXPECT_TRUE(!failed.committed() && failed.not_committed() && !failed.unknown());
    EXPECT_TRUE(!unknown.committed() && !unknown.not_committed() && unknown.unknown());
    EXPECT_EQ(committed.value(), 7);
    EXPECT_EQ(failed.error().message, "refused");
    EXPECT_EQ(unknown.error().message, "no answer");
}

TEST(Outcome, MatchCallsTheOneThatFits) {
    EXPECT_EQ(told(Committed<int>{7}), "committed 7");
    EXPECT_EQ(told(NotCommitted{error("refused")}), "not committed: refused");
    EXPECT_EQ(told(Unknown{error("no answer")}), "unknown: no answer");
}

TEST(Outcome, GivesAwayWhatItHolds) {
    Outcome<std::unique_ptr<int>> outcome = Committed<std::unique_ptr<int>>{std::make_unique<int>(5)};
    EXPECT_EQ(*std::move(outcome).value(), 5);
    Outcome<> failed = Unknown{error("no answer")};
    EXPECT_EQ(std::move(failed).error().message, "no answer");
}

TEST(Outcome, OfNothingStillHasThree) {
    const Outcome<> committed = Committed<void>{};
    EXPECT_TRUE(committed.committed());
    EXPECT_EQ(
        committed.match([](const auto&) { return 1; }, [](const auto&) { return 2; }, [](const auto&) { return 3; }),
        1);
}

TEST(OutcomeDeathTest, AskingForWhatIsNotThereAborts) {
    const Outcome<int> committed = Committed<int>{7};
    const Outcome<int> unknown = Unknown{error("no answer")};
    EXPECT_DEATH(static_cast<void>(committed.error()), "assertion failed");
    EXPECT_DEATH(static_cast<void>(unknown.value()), "assertion failed");
}

}  // namespace
}  // namespace semel
