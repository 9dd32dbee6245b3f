#include "semel/retry/deadline.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{1h};

TEST(Deadline, IsNeverUnlessSaid) {
    constexpr Deadline deadline;
    EXPECT_TRUE(deadline.is_never());
    EXPECT_FALSE(deadline.passed(Instant::max()));
    EXPECT_EQ(deadline.remaining(start), Duration::max());
}

TEST(Deadline, PassesAtItsInstant) {
    const auto deadline = Deadline::after(start, 1s);
    EXPECT_FALSE(deadline.passed(start + 1s - 1ns));
    EXPECT_TRUE(deadline.passed(start + 1s));
    EXPECT_EQ(deadline.remaining(start + 400ms), 600ms);
    EXPECT_EQ(deadline.remaining(start + 2s), 0s);
}

TEST(Deadline, OnlyShrinksInward) {
    const auto outer = Deadline::after(start, 1s);
    EXPECT_EQ(outer.within(start, 2s), outer);
    EXPECT_EQ(outer.within(start, 100ms), Deadline::at(start + 100ms));
    EXPECT_EQ(Deadline::never().within(start, 100ms), Deadline::at(start + 100ms));
}

TEST(Deadline, DoesNotOverflow) {
    EXPECT_TRUE(Deadline::after(start, Duration::max()).is_never());
    EXPECT_EQ(Deadline::after(start, 1s).within(start, Duration::max()), Deadline::at(start + 1s));
}

}  // namespace
}  // namespace semel
