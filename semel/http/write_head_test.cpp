#include "semel/http/write_head.hpp"

#include "semel/http/core.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace semel::http {
namespace {

std::string written(const Response& response, const Closing& closing) {
    std::string out;
    write_response_head(out, response, closing);
    return out;
}

TEST(ResponseHead, IsWrittenWithTheServersOwnFieldsInPlaceOfTheHandlers) {
    const Response response{.status = 201,
                            .headers = {{"ETag", "\"1\""},
                                        {"content-length", "99"},
                                        {"Connection", "upgrade"},
                                        {"Date", "x"},
                                        {"Transfer-Encoding", "chunked"},
                                        {"X-Correlation-Id", "x"}},
                            .body = "abc"};
    EXPECT_EQ(written(response, {.date = "today", .correlation = "c"}),
              "HTTP/1.1 201 Created\r\nETag: \"1\"\r\nDate: today\r\nX-Correlation-Id: c\r\nContent-Length: 3\r\n\r\n");
}

TEST(ResponseHead, SaysWhetherTheConnectionStays) {
    EXPECT_EQ(written({}, {.keep_alive = false}), "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(written({}, {.http11 = false}), "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(written({.status = 204}, {}), "HTTP/1.1 204 No Content\r\n\r\n");
    EXPECT_EQ(written({.status = 299}, {}), "HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n");
}

TEST(Response, CannotBeSentIfAFieldCouldBeTakenForTwo) {
    EXPECT_TRUE(is_sendable({.headers = {{"Location", "/a"}}}));
    EXPECT_FALSE(is_sendable({.headers = {{"Location", "/a\r\nSet-Cookie: b"}}}));
    EXPECT_FALSE(is_sendable({.headers = {{"Set Cookie", "b"}}}));
    EXPECT_FALSE(is_sendable({.status = 100}));
    EXPECT_FALSE(is_sendable({.status = 1000}));
}

TEST(HttpDate, IsWrittenAsRfc9110HasIt) {
    const std::chrono::sys_seconds when{std::chrono::seconds(784111777)};
    EXPECT_EQ(format_http_date(when), "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace
}  // namespace semel::http
