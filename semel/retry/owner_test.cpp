#include "semel/retry/owner.hpp"

#include <gtest/gtest.h>

#include <string>

namespace semel {
namespace {

using namespace std::chrono_literals;

TEST(RetryContext, OneLayerOwnsTheRetries) {
    RetryContext context;
    EXPECT_EQ(context.owner_for("orders"), RetryOwner::here);
    context.owner = "gateway";
    EXPECT_EQ(context.owner_for("orders"), RetryOwner::outer);
    EXPECT_EQ(context.owner_for("gateway"), RetryOwner::here);
}

TEST(RemainingTime, TravelsAsMillisecondsRoundedDown) {
    EXPECT_EQ(format_remaining(1500ms), "1500");
    EXPECT_EQ(format_remaining(1999us), "1");
    EXPECT_EQ(format_remaining(0s), "0");
    EXPECT_EQ(format_remaining(-5s), "0");
    EXPECT_EQ(parse_remaining("1500").value(), 1500ms);
    EXPECT_EQ(parse_remaining("0").value(), 0ms);
}

TEST(RemainingTime, OfNoDeadlineIsTheLongestThatTravels) {
    EXPECT_EQ(parse_remaining(format_remaining(Duration::max())).value(), remaining_max);
}

TEST(RemainingTime, RefusesJunk) {
    for (const std::string value : {"", " ", "-1", "+1", "1.5", "1e3", "0x10", " 10", "10 ", "10ms", "ten",
                                    "31536000001", "18446744073709551616", "99999999999999999999999999"}) {
        const auto remaining = parse_remaining(value);
        ASSERT_FALSE(remaining.has_value()) << value;
        EXPECT_EQ(remaining.error().fault, Fault::rejected);
    }
    EXPECT_FALSE(parse_remaining(std::string(100'000, '1')).has_value());
    EXPECT_FALSE(parse_remaining(std::string_view("1\0", 2)).has_value());
}

TEST(AttemptNumber, TravelsAsANumberFromOne) {
    EXPECT_EQ(format_attempt(3), "3");
    EXPECT_EQ(format_attempt(0), "1");
    EXPECT_EQ(parse_attempt(format_attempt(4'000'000'000)).value(), attempt_number_max);
    EXPECT_EQ(parse_attempt("7").value(), 7U);
    for (const char* value : {"", "0", "-1", "1000001", "4294967297", "one"}) {
        EXPECT_FALSE(parse_attempt(value).has_value()) << value;
    }
}

TEST(Owner, IsAShortPlainName) {
    EXPECT_EQ(parse_owner("orders-api_2.eu").value(), "orders-api_2.eu");
    EXPECT_TRUE(parse_owner(std::string(64, 'a')).has_value());
    for (const std::string& value : {std::string(), std::string("a b"), std::string("a\r\nSet-Cookie: x"),
                                     std::string("é"), std::string(65, 'a')}) {
        EXPECT_FALSE(parse_owner(value).has_value()) << value;
    }
}

}  // namespace
}  // namespace semel
