#include "semel/retry/retry_after.hpp"

#include "semel/base/random.hpp"

#include <gtest/gtest.h>

#include <string>

namespace semel {
namespace {

using namespace std::chrono_literals;

// Sunday, 6 November 1994, 08:49:07: half a minute before the date of RFC 9110's examples.
constexpr Timestamp now = std::chrono::sys_days(std::chrono::year(1994) / 11 / 6) + 8h + 49min + 7s;

TEST(RetryAfter, ReadsSeconds) {
    EXPECT_EQ(parse_retry_after("120", now).value(), 2min);
    EXPECT_EQ(parse_retry_after("0", now).value(), 0s);
    EXPECT_EQ(parse_retry_after(" 007\t", now).value(), 7s);
}

TEST(RetryAfter, ReadsAllThreeFormsOfADate) {
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now).value(), 30s);
    EXPECT_EQ(parse_retry_after("Sunday, 06-Nov-94 08:49:37 GMT", now).value(), 30s);
    EXPECT_EQ(parse_retry_after("Sun Nov  6 08:49:37 1994", now).value(), 30s);
    EXPECT_EQ(parse_retry_after("Wed Nov 16 08:49:07 1994", now).value(), 240h);
}

TEST(RetryAfter, ADateInThePastIsNow) {
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:07 GMT", now).value(), 0s);
    EXPECT_EQ(parse_retry_after("Sat, 05 Nov 1994 08:49:37 GMT", now).value(), 0s);
    EXPECT_EQ(parse_retry_after("Mon, 01 Jan 0001 00:00:00 GMT", now).value(), 0s);
}

TEST(RetryAfter, TwoDigitsOfAYearMoreThanFiftyYearsAheadMeanThePast) {
    constexpr Timestamp later = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
    EXPECT_EQ(parse_retry_after("Thursday, 01-Jan-26 00:00:05 GMT", later).value(), 5s);
    EXPECT_EQ(parse_retry_after("Sunday, 06-Nov-94 08:49:37 GMT", later).value(), 0s);
    EXPECT_EQ(parse_retry_after("Wednesday, 01-Jan-76 00:00:00 GMT", later).value(), retry_after_max);
}

TEST(RetryAfter, HugeValuesAreCutInsteadOfOverflowing) {
    EXPECT_EQ(parse_retry_after("31536000", now).value(), retry_after_max);
    EXPECT_EQ(parse_retry_after("31536001", now).value(), retry_after_max);
    EXPECT_EQ(parse_retry_after("9223372036854775807", now).value(), retry_after_max);
    EXPECT_EQ(parse_retry_after(std::string(10'000, '9'), now).value(), retry_after_max);
    EXPECT_EQ(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", now).value(), retry_after_max);
}

TEST(RetryAfter, RefusesJunk) {
    for (const char* value : {"",
                              " ",
                              "-1",
                              "+1",
                              "1.5",
                              "1e3",
                              "soon",
                              "120s",
                              "1 2",
                              "Sun, 06 Nov 1994 08:49:37",
                              "Sun, 06 Nov 1994",
                              "Sun, 06 Nov 1994 08:49:37 UTC",
                              "Sun, 06 Nov 1994 08:49:37 GMT+1",
                              "sun, 06 Nov 1994 08:49:37 GMT",
                              "Sun, 31 Feb 1994 08:49:37 GMT",
                              "Sun, 00 Nov 1994 08:49:37 GMT",
                              "Sun, 06 Foo 1994 08:49:37 GMT",
                              "Sun, 06 Nov 1994 24:00:00 GMT",
                              "Sun, 06 Nov 1994 08:60:00 GMT",
                              "Sun, 06 Nov 1994 08:49:61 GMT",
                              "Sun, 6 Nov 1994 08:49:37 GMT",
                              "Sun, 06-Nov-94 08:49:37 GMT",
                              "Someday, 06-Nov-94 08:49:37 GMT",
                              "Sun Nov 6 08:49:37 1994",
                              "Sun Nov  6 08:49:37 94",
                              "1994-11-06T08:49:37Z"}) {
        const auto wait = parse_retry_after(value, now);
        ASSERT_FALSE(wait.has_value()) << value;
        EXPECT_EQ(wait.error().fault, Fault::rejected);
    }
}

TEST(RetryAfter, AcceptsALeapSecond) {
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:60 GMT", now).value(), 53s);
}

TEST(RetryAfter, SurvivesAnyMutationOfADate) {
    const std::string good = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        SeededRandom random(seed);
        std::string text = good;
        for (std::uint64_t i = 0; i <= random.below(4); ++i) {
            text[random.below(text.size())] = static_cast<char>(random.below(256));
        }
        text.resize(random.below(text.size() + 1));
        const auto wait = parse_retry_after(text, now);
        if (wait) {
            EXPECT_GE(*wait, 0s);
            EXPECT_LE(*wait, retry_after_max);
        }
    }
}

}  // namespace
}  // namespace semel
