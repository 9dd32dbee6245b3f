#include "semel/http/target.hpp"

#include "semel/http/url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semel::http {
namespace {

using ::testing::ElementsAre;

TEST(Target, TakesTheThreeForms) {
    const auto origin = parse_target("/a/b?x=1&y");
    ASSERT_TRUE(origin.has_value());
    EXPECT_EQ(origin->path, "/a/b");
    EXPECT_EQ(origin->query, "x=1&y");
    const auto absolute = parse_target("HTTP://host:80/a?q");
    ASSERT_TRUE(absolute.has_value());
    EXPECT_EQ(absolute->authority, "host:80");
    EXPECT_EQ(absolute->path, "/a");
    EXPECT_EQ(parse_target("*")->path, "*");
}

TEST(Target, RefusesOddities) {
    for (const char* bad : {"", "a", "host:80", "ftp://host/", "http://", "http:///a", "http://u@host/", "http://host",
                            "http://host?q", "/a#b", "/a b", "/\x01", "/\xc3\xa9", "**"}) {
        EXPECT_FALSE(parse_target(bad).has_value()) << bad;
    }
}

TEST(Path, IsDecodedOnceAndSegmentBySegment) {
    EXPECT_THAT(decode_path("/api/v1/a%20b").value(), ElementsAre("api", "v1", "a b"));
    EXPECT_THAT(decode_path("/%2525").value(), ElementsAre("%25"));
    EXPECT_THAT(decode_path("/a+b").value(), ElementsAre("a+b"));
    EXPECT_THAT(decode_path("/%C3%A9").value(), ElementsAre("\xc3\xa9"));
    EXPECT_THAT(decode_path("/a//b/").value(), ElementsAre("a", "", "b", ""));
    EXPECT_THAT(decode_path("/...").value(), ElementsAre("..."));
}

TEST(Path, IsRefusedWhereReadersDiffer) {
    for (const char* bad :
         {"/a%2Fb", "/a%2fb", "/a%5Cb", "/%00", "/a%0d%0a", "/%7f", "/%", "/%4", "/%zz", "/.", "/..", "/a/../b",
          "/%2e%2E/b", "/%2e", "/%ff", "/%C0%AF", "/%ED%A0%80", "/%F4%90%80%80", "/%E2%82"}) {
        EXPECT_FALSE(decode_path(bad).has_value()) << bad;
    }
}

TEST(Query, IsDecodedIntoPairs) {
    EXPECT_THAT(decode_query("a=1&b=x+y%2B&c&&=d&a=%26%3D").value(),
                ElementsAre(Parameter("a", "1"), Parameter("b", "x y+"), Parameter("c", ""), Parameter("", "d"),
                            Parameter("a", "&=")));
    EXPECT_TRUE(decode_query("").value().empty());
}

TEST(Query, IsRefusedWhenMalformedOrEndless) {
    for (const char* bad : {"a=%", "%4=1", "a=%00", "a=%ff"}) EXPECT_FALSE(decode_query(bad).has_value()) << bad;
    std::string many;
    for (int i = 0; i < 100; ++i) many += "a&";
    EXPECT_TRUE(decode_query(many).has_value());
    EXPECT_FALSE(decode_query(many + "a").has_value());
}

TEST(Url, IsTakenApartForAClient) {
    const auto plain = parse_url("http://127.0.0.1:8080/a?b=c");
    ASSERT_TRUE(plain.has_value());
    EXPECT_FALSE(plain->tls);
    EXPECT_EQ(plain->host, "127.0.0.1");
    EXPECT_EQ(plain->port, 8080);
    EXPECT_EQ(plain->target, "/a?b=c");
    EXPECT_EQ(plain->authority, "127.0.0.1:8080");
    EXPECT_EQ(plain->text_without_query(), "http://127.0.0.1:8080/a");
    const auto secure = parse_url("HTTPS://[::1]");
    ASSERT_TRUE(secure.has_value());
    EXPECT_TRUE(secure->tls);
    EXPECT_EQ(secure->host, "::1");
    EXPECT_EQ(secure->port, 443);
    EXPECT_EQ(secure->target, "/");
    EXPECT_EQ(secure->authority, "[::1]");
    EXPECT_EQ(parse_url("http://a:80?q")->target, "/?q");
    EXPECT_EQ(parse_url("http://a:80?q")->authority, "a");
}

TEST(Url, IsRefusedWhenAClientCouldMisreadIt) {
    for (const char* bad :
         {"", "a", "ftp://a/", "http://", "http:///a", "http://u:p@a/", "http://a:0/", "http://a:/", "http://a:70000/",
          "http://a:1x/", "http://[::1", "http://a b/", "http://a/#f", "http://a/ b", "http://[::1]x/"}) {
        EXPECT_FALSE(parse_url(bad).has_value()) << bad;
    }
}

}  // namespace
}  // namespace semel::http
