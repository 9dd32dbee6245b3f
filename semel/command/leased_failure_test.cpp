#include "semel/command/leased_failure.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

Error rejected(std::string_view code) {
    Error error;
    error.fault = Fault::rejected;
    error.message = "refused";
    error.cause.code = code;
    return error;
}

TEST(Judged, LeavesARefusalOfTheHandlersAloneWhateverItsCode) {
    for (const std::string_view code : {"", "closed", "422", "42P01", "1"})
        EXPECT_EQ(judged(rejected(code), false).fault, Fault::rejected) << code;
}

TEST(Judged, HandsTheStoresOwnErrorsToAPersonExceptConstraints) {
    for (const std::string_view code : {"", "42P01", "42501", "3D000", "3F000", "28P01", "0A000", "57P04", "1", "8"})
        EXPECT_EQ(judged(rejected(code), true).fault, Fault::broken) << code;
    for (const std::string_view code : {"23505", "23503", "23514", "23P01", "19", "2067", "787"})
        EXPECT_EQ(judged(rejected(code), true).fault, Fault::rejected) << code;
}

TEST(Judged, TriesAgainWhatRanOutOfTime) {
    EXPECT_EQ(judged(rejected("57014"), true).fault, Fault::unavailable);
    EXPECT_EQ(judged(rejected("9"), true).fault, Fault::unavailable);
    Error late = rejected("");
    late.cause.timeout = Timeout::statement;
    EXPECT_EQ(judged(late, false).fault, Fault::unavailable);
    late.cause.timeout = Timeout::none;
    late.cause.stop = Stop::deadline;
    EXPECT_EQ(judged(late, false).fault, Fault::unavailable);
}

TEST(Judged, ChangesNothingButRefusals) {
    for (const Fault fault : {Fault::conflict, Fault::unavailable, Fault::throttled, Fault::unknown, Fault::broken}) {
        Error error = rejected("42P01");
        error.fault = fault;
        error.cause.timeout = Timeout::statement;
        EXPECT_EQ(judged(error, true).fault, fault);
    }
    EXPECT_EQ(judged(rejected("SM007"), true).fault, Fault::rejected) << "whoever took over decides";
}

}  // namespace
}  // namespace semel
