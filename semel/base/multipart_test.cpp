#include "semel/base/multipart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string_view> parts(std::string_view body, std::string_view boundary = "b") {
    auto found = multipart_parts(body, boundary);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : std::vector<std::string_view>{"refused"};
}

std::string refusal(std::string_view body, std::string_view boundary = "b") {
    const auto found = multipart_parts(body, boundary);
    return found ? "taken" : found.error().message;
}

TEST(Multipart, FindsThePartsWithTheirHeaders) {
    EXPECT_THAT(parts("--b\r\nA: 1\r\n\r\none\r\n--b\r\n\r\ntwo\r\nlines\r\n--b--\r\n"),
                ElementsAre("A: 1\r\n\r\none", "\r\ntwo\r\nlines"));
    EXPECT_THAT(parts("--b--\r\n"), IsEmpty());
    EXPECT_THAT(parts("--b\r\n--b\r\n\r\n--b--"), ElementsAre("", ""));
}

TEST(Multipart, LeavesOutWhatStandsBeforeAndBehind) {
    EXPECT_THAT(parts("hello\r\n--b \t\r\none\r\n--b--  \r\nbye\r\n--b\r\n"), ElementsAre("one"));
    EXPECT_THAT(parts("\r\n--b\r\none\r\n--b--"), ElementsAre("one"));
}

TEST(Multipart, TakesADelimiterOnlyAtTheBeginningOfALine) {
    EXPECT_THAT(parts("--b\r\nsee --b-- and\n--b\r\n--b--"), ElementsAre("see --b-- and\n--b"));
}

TEST(Multipart, RefusesWhatReadersCouldTakeInTwoWays) {
    EXPECT_THAT(refusal("--b\r\none\r\n--bc\r\n--b--"), HasSubstr("begins like a delimiter and is none at byte 8"));
    EXPECT_THAT(refusal("--b\r\none\r\n--b\n\r\n--b--"), HasSubstr("begins like a delimiter"));
    EXPECT_THAT(refusal("--b\r\none\r\n--b-\r\n--b--"), HasSubstr("begins like a delimiter"));
    EXPECT_THAT(refusal("--b\r\none\r\n--b--x"), HasSubstr("begins like a delimiter"));
}

TEST(Multipart, RefusesABodyThatIsCutOrHasNoBoundary) {
    EXPECT_THAT(refusal("--b\r\none"), HasSubstr("closing delimiter is missing"));
    EXPECT_THAT(refusal("--b\none\n--b--\n"), HasSubstr("begins like a delimiter"));
    EXPECT_THAT(refusal("one"), HasSubstr("no delimiter"));
    EXPECT_THAT(refusal(""), HasSubstr("no delimiter"));
    EXPECT_THAT(refusal("----\r\n", ""), HasSubstr("no valid boundary"));
    EXPECT_THAT(refusal("--b\r\n", std::string(71, 'b')), HasSubstr("no valid boundary"));
    EXPECT_THAT(refusal("--b\r\n", "b\r\nc"), HasSubstr("no valid boundary"));
}

TEST(Multipart, HasALimitOfParts) {
    std::string body;
    for (std::size_t i = 0; i < multipart_parts_max; ++i) body += "--b\r\nx\r\n";
    EXPECT_EQ(parts(body + "--b--").size(), multipart_parts_max);
    EXPECT_THAT(refusal(body + "--b\r\nx\r\n--b--"), HasSubstr("too many parts"));
}

}  // namespace
}  // namespace semel
