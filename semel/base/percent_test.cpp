#include "semel/base/percent.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

using namespace std::string_literals;

TEST(Percent, IsDecodedOnce) {
    EXPECT_EQ(percent_decoded(""), "");
    EXPECT_EQ(percent_decoded("plain+text"), "plain+text");
    EXPECT_EQ(percent_decoded("a%20b%2Fc%2fd"), "a b/c/d");
    EXPECT_EQ(percent_decoded("%2525"), "%25") << "what comes out is not decoded again";
    EXPECT_EQ(percent_decoded("%C3%A4"), "ä");
    EXPECT_EQ(percent_decoded("%00%ff"), "\0\xff"s);
    EXPECT_EQ(percent_decoded("a+b%2B", Plus::space), "a b+");
}

TEST(Percent, MalformedIsNothing) {
    for (const char* text : {"%", "%4", "a%", "%zz", "%4g", "%g4", "%%41", "% 41", "%+4", "%-1", "%4\n"}) {
        EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
        EXPECT_EQ(percent_decoded(text, Plus::space), std::nullopt) << text;
    }
    EXPECT_EQ(percent_decoded(std::string_view("%411").substr(0, 2)), std::nullopt) << "nothing is read behind the end";
}

TEST(Percent, OfOthersIsDecodedWhereItIs) {
    EXPECT_EQ(percent_decoded_where_it_is("a%20b"), "a b");
    EXPECT_EQ(percent_decoded_where_it_is("100%"), "100%");
    EXPECT_EQ(percent_decoded_where_it_is("100% of%41"), "100% ofA");
    EXPECT_EQ(percent_decoded_where_it_is("%4%41"), "%4A");
    EXPECT_EQ(percent_decoded_where_it_is("%zz+"), "%zz+");
}

}  // namespace
}  // namespace semel
