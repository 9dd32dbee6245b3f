#include "semel/idempotency/reply.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

using Headers = std::vector<ReplyHeader>;

Headers through_storage(const Headers& headers) {
    const auto text = encode_headers(headers);
    EXPECT_TRUE(text) << text.error().describe();
    auto back = decode_headers(*text);
    EXPECT_TRUE(back) << back.error().describe();
    return *std::move(back);
}

TEST(Reply, HeadersComeBackAsTheyWereInTheirOrder) {
    const Headers headers{{"Content-Type", "application/json"}, {"Location", "/payments/1"}, {"ETag", "\"7\""},
                          {"Link", "</a>; rel=\"next\""},       {"Link", "</b>: odd"},       {"Last-Modified", ""},
                          {"content-location", " padded "}};
    EXPECT_EQ(through_storage(headers), headers);
    EXPECT_EQ(through_storage({}), Headers{});
    EXPECT_EQ(encode_headers({{"ETag", "x"}}).value(), "ETag: x\n");
}

TEST(Reply, HeadersForOneConnectionOrOneMomentAreNeverStored) {
    const Headers kept{{"Location", "/x"}};
    EXPECT_EQ(through_storage({{"Set-Cookie", "secret"},
                               {"Location", "/x"},
                               {"Date", "now"},
                               {"WWW-Authenticate", "Basic"},
                               {"Authorization", "secret"},
                               {"Retry-After", "1"},
                               {"X-Request-Id", "1"}}),
              kept);
    for (const std::string_view name :
         {"content-type", "LOCATION", "Content-Location", "etag", "Last-Modified", "LINK"})
        EXPECT_TRUE(replayable_header(name)) << name;
    for (const std::string_view name : {"", "Set-Cookie", "Date", "Location2", "Locatio", "Connection"})
        EXPECT_FALSE(replayable_header(name)) << name;
}

TEST(Reply, ALineBreakInAHeaderIsRefusedInsteadOfBecomingTwo) {
    for (const std::string& value :
         {std::string("a\nb"), std::string("a\rb"), std::string("\n"), std::string("a\0b", 3)}) {
        const auto refused = encode_headers({{"Location", value}});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().fault, Fault::broken);
    }
    EXPECT_TRUE(encode_headers({{"Set-Cookie", "a\nb"}})) << "what is not stored cannot hurt";
}

TEST(Reply, AHeaderThatCannotBeSentIsRefused) {
    for (const std::string_view value : {"/a\x01", "/a\x7f", "/ung\xfcltig"}) {
        const auto refused = encode_headers({{"Location", std::string(value)}});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().fault, Fault::broken);
    }
}

TEST(Reply, HeadersOfOtherProgramsMayLeaveOutTheBlankAndHaveEmptyLines) {
    const Headers expected{{"ETag", "1"}, {"Location", "/x"}};
    EXPECT_EQ(decode_headers("ETag:1\r\n\nLocation: /x").value(), expected);
    EXPECT_EQ(decode_headers("\n").value(), Headers{});
}

TEST(Reply, DamagedHeadersAreReportedAndNotGuessed) {
    for (const std::string_view damaged :
         {"Location", "ETag: 1\nbroken\n", ": x", "ETag: a\rb\n", "ETag: \xfc", R"({"ETag"})"}) {
        const auto refused = decode_headers(damaged);
        ASSERT_FALSE(refused) << damaged;
        EXPECT_EQ(refused.error().fault, Fault::broken);
    }
    EXPECT_FALSE(decode_headers(std::string_view("ETag: a\0b", 9)));
}

TEST(Reply, HeadersMayHaveBeenWrittenByAnotherProgram) {
    const Headers one{{"ETag", "1"}};
    EXPECT_EQ(decode_headers("ETag: 1").value(), one) << "without the last line break";
    EXPECT_EQ(decode_headers("ETag: 1\r\n").value(), one);
    const Headers two{{"ETag", "1"}, {"Link", "x"}};
    EXPECT_EQ(decode_headers("ETag: 1\r\nLink: x\r\n").value(), two);
}

}  // namespace
}  // namespace semel
