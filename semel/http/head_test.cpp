#include "semel/http/head.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace semel::http {
namespace {

using Verdict = HeadScan::Verdict;
constexpr HeadScan::Limits limits{.first_line = 100, .head = 1000, .fields = 10};

Verdict scan(std::string_view text) { return HeadScan().scan(text, limits); }

TEST(HeadScan, FindsTheEndHoweverTheBytesArrive) {
    const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nX: b\tc\r\n\r\n";
    for (std::size_t step = 1; step <= head.size(); ++step) {
        HeadScan scanned;
        std::size_t given = 0;
        Verdict verdict = Verdict::more;
        while (verdict == Verdict::more && given < head.size()) {
            given = std::min(given + step, head.size());
            verdict = scanned.scan(std::string_view(head).substr(0, given), limits);
        }
        ASSERT_EQ(verdict, Verdict::complete) << "step " << step;
        EXPECT_EQ(scanned.begin(), 0U);
        EXPECT_EQ(scanned.end(), head.size());
    }
}

TEST(HeadScan, LeavesTheNextRequestAlone) {
    HeadScan scanned;
    EXPECT_EQ(scanned.scan("GET / HTTP/1.1\r\n\r\nGET /2", limits), Verdict::complete);
    EXPECT_EQ(scanned.end(), 18U);
}

TEST(HeadScan, SkipsAFewEmptyLinesBeforeARequest) {
    HeadScan scanned;
    EXPECT_EQ(scanned.scan("\r\n\r\nGET / HTTP/1.1\r\n\r\n", limits), Verdict::complete);
    EXPECT_EQ(scanned.begin(), 4U);
    EXPECT_EQ(scan("\r\n\r\n\r\n\r\n\r\n\r\n"), Verdict::malformed);
}

TEST(HeadScan, RefusesAtOnceWhatIsNotHttp) {
    for (const std::string& bad :
         {std::string("\x16\x03\x01"), std::string(" GET / HTTP/1.1"), std::string("\nGET / HTTP/1.1\r\n"),
          std::string("GET / HTTP/1.1\n"), std::string("GET / HTTP/1.1\r\nA: b\n"),
          std::string("GET / HTTP/1.1\r\nA: b\rc\r\n"), std::string("GET / HTTP/1.1\r\nA: b\r\n c\r\n"),
          std::string("GET / HTTP/1.1\r\nA: b\r\n\tc\r\n"), std::string("GET / HTTP/1.1\r\nA: \x01\r\n"),
          std::string("GET / HTTP/1.1\r\nA: a\0b\r\n", 24), std::string("GET /\x7f HTTP/1.1\r\n")}) {
        EXPECT_EQ(scan(bad), Verdict::malformed) << bad;
    }
}

TEST(HeadScan, StopsAtItsLimitsBeforeTheEndIsThere) {
    EXPECT_EQ(scan("GET /" + std::string(100, 'a')), Verdict::line_too_long);
    EXPECT_EQ(scan("GET / HTTP/1.1\r\nA: " + std::string(1000, 'a')), Verdict::too_large);
    std::string many = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < 10; ++i) many += "A: b\r\n";
    EXPECT_EQ(scan(many + "\r\n"), Verdict::complete);
    EXPECT_EQ(scan(many + "A: b\r\n"), Verdict::too_large);
}

tl::expected<HeadFacts, Problem> parse(const std::string& fields, const std::string& line = "POST /a?b HTTP/1.1",
                                       const std::string& host = "Host: a\r\n") {
    Request request;
    return parse_request_head(line + "\r\n" + host + fields + "\r\n", request);
}

TEST(RequestHead, FillsTheRequest) {
    Request request;
    const auto facts =
        parse_request_head("PURGE /a%20b?c HTTP/1.0\r\nHost: [::1]:80\r\nA:  b c \r\nA:\r\n\r\n", request);
    ASSERT_TRUE(facts.has_value());
    EXPECT_EQ(request.method, "PURGE");
    EXPECT_EQ(request.target, "/a%20b?c");
    EXPECT_EQ(request.headers, (Headers{{"Host", "[::1]:80"}, {"A", "b c"}, {"A", ""}}));
    EXPECT_FALSE(facts->http11);
    EXPECT_FALSE(facts->keep_alive);
}

TEST(RequestHead, SaysHowTheBodyIsFramedAndWhetherTheConnectionStays) {
    EXPECT_EQ(parse("")->framing, Framing::none);
    EXPECT_TRUE(parse("")->keep_alive);
    EXPECT_FALSE(parse("Connection: x, Close\r\n")->keep_alive);
    EXPECT_TRUE(parse("Connection: keep-alive\r\n", "GET / HTTP/1.0")->keep_alive);
    EXPECT_EQ(parse("Content-Length: 12\r\n")->framing, Framing::length);
    EXPECT_EQ(parse("Content-Length: 12\r\n")->length, 12U);
    EXPECT_EQ(parse("Content-Length: 0\r\n")->framing, Framing::none);
    EXPECT_EQ(parse("Transfer-Encoding: Chunked\r\n")->framing, Framing::chunked);
    EXPECT_TRUE(parse("Content-Length: 1\r\nExpect: 100-Continue\r\n")->expects_continue);
    EXPECT_FALSE(parse("Expect: 100-continue\r\n")->expects_continue) << "there is nothing to continue with";
}

TEST(RequestHead, IsRefusedWhereverTwoReadersCouldDiffer) {
    const std::vector<std::pair<std::string, unsigned>> cases = {
        {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400},
        {"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", 400},
        {"Content-Length: 1\r\nContent-Length: 2\r\n", 400},
        {"Content-Length: 1\r\nContent-Length: 1\r\n", 400},
        {"Content-Length: 1, 1\r\n", 400},
        {"Content-Length: +1\r\n", 400},
        {"Content-Length: -1\r\n", 400},
        {"Content-Length: 0x1\r\n", 400},
        {"Content-Length: 1 1\r\n", 400},
        {"Content-Length:\r\n", 400},
        {"Content-Length: 99999999999999999999\r\n", 400},
        {"Transfer-Encoding: gzip\r\n", 501},
        {"Transfer-Encoding: gzip, chunked\r\n", 501},
        {"Transfer-Encoding: chunked, identity\r\n", 501},
        {"Transfer-Encoding: xchunked\r\n", 501},
        {"Transfer-Encoding:\r\n", 501},
        {"Transfer-Encoding: \"chunked\"\r\n", 501},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400},
        {"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 400},
        {"Transfer-Encoding : chunked\r\n", 400},
        {"Host: b\r\n", 400},
        {"A b: c\r\n", 400},
        {": c\r\n", 400},
        {"A\r\n", 400},
        {"Authorization: a\r\nAuthorization: b\r\n", 400},
        {"Content-Type: a\r\nContent-Type: b\r\n", 400},
        {"Expect: the-unexpected\r\n", 417},
    };
    for (const auto& [fields, status] : cases) {
        const auto facts = parse(fields);
        ASSERT_FALSE(facts.has_value()) << fields;
        EXPECT_EQ(facts.error().status, status) << fields << facts.error().detail;
    }
}

TEST(RequestHead, RefusesTwoKeysByTheirOwnCode) {
    const auto facts = parse("Idempotency-Key: a\r\nidempotency-key: a\r\n");
    ASSERT_FALSE(facts.has_value());
    EXPECT_EQ(facts.error().code, "INVALID_IDEMPOTENCY_KEY");
    EXPECT_EQ(facts.error().status, 400U);
}

TEST(RequestHead, NeedsOneProperHost) {
    EXPECT_FALSE(parse("", "GET / HTTP/1.1", "").has_value());
    EXPECT_TRUE(parse("", "GET / HTTP/1.0", "").has_value());
    for (const char* host :
         {"Host:\r\n", "Host: a b\r\n", "Host: a/b\r\n", "Host: u@a\r\n", "Host: a,b\r\n", "Host: a\\b\r\n"}) {
        EXPECT_FALSE(parse("", "GET / HTTP/1.1", host).has_value()) << host;
    }
}

TEST(RequestHead, RefusesOtherVersionsAndBrokenLines) {
    EXPECT_EQ(parse("", "GET / HTTP/2.0").error().status, 505U);
    EXPECT_EQ(parse("", "GET / HTTP/0.9").error().status, 505U);
    for (const char* line : {"GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 ", "GET / http/1.1", "GET / HTTP/1,1",
                             "GET / HTTP/1.12", "G\xc3\xa9T / HTTP/1.1", "GET / x HTTP/1.1", " / HTTP/1.1"}) {
        const auto facts = parse("", line);
        ASSERT_FALSE(facts.has_value()) << line;
        EXPECT_EQ(facts.error().status, 400U) << line;
    }
    EXPECT_EQ(parse("Transfer-Encoding: chunked\r\n", "POST / HTTP/1.0").error().status, 400U);
}

TEST(ResponseHead, SaysWhereTheBodyEnds) {
    const auto parsed = [](const std::string& text, bool to_head = false) {
        Response response;
        return parse_response_head(text, to_head, response);
    };
    EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")->framing, Framing::length);
    EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", true)->framing, Framing::none);
    EXPECT_EQ(parsed("HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\n")->framing, Framing::none);
    EXPECT_EQ(parsed("HTTP/1.1 200\r\n\r\n").has_value(), false);
    EXPECT_EQ(parsed("HTTP/1.1 200 \r\n\r\n")->framing, Framing::until_close);
    EXPECT_FALSE(parsed("HTTP/1.1 200 \r\n\r\n")->keep_alive);
    EXPECT_EQ(parsed("HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n")->framing, Framing::chunked);
    for (const char* bad : {"HTTP/1.1 200 \r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 2x0 \r\n\r\n",
                            "ICY 200 OK\r\n\r\n", "HTTP/1.1 200 \r\nContent-Length: a\r\n\r\n",
                            "HTTP/1.1 200 \r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
        const auto facts = parsed(bad);
        ASSERT_FALSE(facts.has_value()) << bad;
        EXPECT_EQ(facts.error().fault, Fault::unknown) << "the request was sent";
    }
}

}  // namespace
}  // namespace semel::http
