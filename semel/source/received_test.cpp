#include "semel/source/received.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

TEST(ReceivedMessage, TellsTheSameWhateverTheSpellingOfItsJson) {
    const ReceivedMessage one{.id = "1", .type = "paid", .payload = R"({"a":1,"b":2})"};
    const ReceivedMessage other{.id = "2", .topic = "x", .type = "paid", .payload = R"({ "b": 2.0, "a": 1 })"};
    EXPECT_EQ(content_hash(one), content_hash(other));
}

TEST(ReceivedMessage, TellsSomethingElseWithAnotherTypeOrPayload) {
    const ReceivedMessage one{.id = "1", .type = "paid", .payload = R"({"a":1})"};
    EXPECT_NE(content_hash(one), content_hash({.id = "1", .type = "refunded", .payload = R"({"a":1})"}));
    EXPECT_NE(content_hash(one), content_hash({.id = "1", .type = "paid", .payload = R"({"a":2})"}));
    EXPECT_NE(content_hash({.id = "1", .payload = "no json"}), content_hash({.id = "1", .payload = "no  json"}));
}

TEST(ReceivedMessage, KeepsAggregatesApartThatOnlyLookAlike) {
    Message one;
    one.aggregate = {.type = "a/b", .id = "c"};
    Message other;
    other.aggregate = {.type = "a", .id = "b/c"};
    EXPECT_NE(received_from(one, "t").key, received_from(other, "t").key);
    EXPECT_EQ(received_from(one, "t").id, one.id.text());
}

TEST(ReceivedMessage, IsStorableIfItsTextsAreTexts) {
    EXPECT_TRUE(storable({.id = "\u00e4 \u20ac \U0001f600", .payload = std::string("\0\xff", 2)}));
    const ReceivedMessage fine{.id = "1"};
    for (const std::string& bad :
         {std::string("a\0b", 3), std::string("\xe9t\xe9"), std::string("cut \xe2\x82"), std::string("\xc0\xaf"),
          std::string("\xe0\x9f\xbf"), std::string("\xed\xa0\x80"), std::string("\xf0\x8f\xbf\xbf"),
          std::string("\xf4\x90\x80\x80"), std::string("\xf5\x80\x80\x80"), std::string("\x80")}) {
        ReceivedMessage message = fine;
        message.headers = bad;
        EXPECT_FALSE(storable(message)) << hex(bytes_of(bad));
        EXPECT_TRUE(storable(made_storable(message)));
        EXPECT_EQ(made_storable(message).headers, "hex:" + hex(bytes_of(bad)));
        EXPECT_EQ(made_storable(message).id, "1");
    }
}

}  // namespace
}  // namespace semel
