#include "semel/base/media_type.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

TEST(MediaType, IsTheSameInAnyCaseAndWithAnyParameters) {
    EXPECT_EQ(media_type_essence("application/json"), "application/json");
    EXPECT_EQ(media_type_essence(" Application/JSON\t; charset=UTF-8"), "application/json");
    EXPECT_EQ(media_type_essence("text/plain;x=\"a;b\""), "text/plain");
    EXPECT_EQ(media_type_essence(""), "");
    EXPECT_EQ(media_type_essence(" ; charset=utf-8"), "");
}

TEST(MediaType, KnowsJsonByItsNameAndItsSuffix) {
    EXPECT_TRUE(is_json("application/json"));
    EXPECT_TRUE(is_json("application/merge-patch+json"));
    EXPECT_TRUE(is_json("application/vnd.api+json"));
    EXPECT_FALSE(is_json("application/json-seq"));
    EXPECT_FALSE(is_json("application/x-ndjson"));
    EXPECT_FALSE(is_json("text/plain"));
    EXPECT_FALSE(is_json("+json"));
    EXPECT_FALSE(is_json(""));
    EXPECT_TRUE(is_multipart("multipart/form-data"));
    EXPECT_FALSE(is_multipart("multipart"));
}

TEST(MediaType, ReadsAParameterQuotedOrNot) {
    EXPECT_EQ(media_type_parameter("multipart/form-data; boundary=abc", "boundary"), "abc");
    EXPECT_EQ(media_type_parameter("multipart/form-data;Boundary=\"a b;c\"; x=1", "boundary"), "a b;c");
    EXPECT_EQ(media_type_parameter("a/b; x=\"; boundary=no\"; boundary=yes", "boundary"), "yes");
    EXPECT_EQ(media_type_parameter("a/b; x=\"\\\"; boundary=no\"; ; boundary = \"y\\\"es\"", "boundary"),
              "\"y\\\"es\"");
    EXPECT_EQ(media_type_parameter("a/b;boundary=first;boundary=second", "boundary"), "first");
}

TEST(MediaType, HasNoParameterWhereTheTextIsBroken) {
    EXPECT_EQ(media_type_parameter("a/b", "boundary"), std::nullopt);
    EXPECT_EQ(media_type_parameter("a/b; boundary", "boundary"), std::nullopt);
    EXPECT_EQ(media_type_parameter("a/b; boundary=\"open", "boundary"), std::nullopt);
    EXPECT_EQ(media_type_parameter("a/b; boundary=\"open\\", "boundary"), std::nullopt);
    EXPECT_EQ(media_type_parameter("", "boundary"), std::nullopt);
}

}  // namespace
}  // namespace semel
