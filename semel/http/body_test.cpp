#include "semel/http/body.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace semel::http {
namespace {

using State = BodyReader::State;

struct Read {
    State state = State::more;
    std::string body;
    std::string rest;  ///< What was left for the next message.
    friend bool operator==(const Read&, const Read&) = default;
};

/// Feeds the text in pieces of `step`, handing back what was not used.
Read read(const HeadFacts& facts, std::string_view text, std::size_t step, std::size_t body_max = 1000) {
    BodyReader reader(facts, body_max);
    Read result;
    std::string pending;
    std::size_t given = 0;
    while (reader.state() == State::more && given < text.size()) {
        const std::size_t count = std::min(step, text.size() - given);
        pending += text.substr(given, count);
        given += count;
        pending.erase(0, reader.feed(pending, result.body));
    }
    result.state = reader.state();
    result.rest = pending + std::string(text.substr(given));
    return result;
}

Read chunked(std::string_view text, std::size_t step = 1000) { return read({.framing = Framing::chunked}, text, step); }

TEST(Body, OfAKnownLengthEndsThere) {
    const HeadFacts facts{.framing = Framing::length, .length = 5};
    for (std::size_t step : {1U, 2U, 5U, 100U}) {
        EXPECT_EQ(read(facts, "helloGET", step), (Read{State::done, "hello", "GET"})) << step;
    }
    EXPECT_EQ(read(facts, "hell", 10).state, State::more);
    EXPECT_EQ(read(facts, "", 1, 4).state, State::too_large) << "before a byte of it came";
}

TEST(Body, InChunksIsTheSameHoweverItArrives) {
    const std::string text = "5\r\nhello\r\n1;name=\"v\"\r\n \r\n05\r\nworld\r\n0\r\nTrailer: x\r\nEtag: y\r\n\r\nGET";
    for (std::size_t step = 1; step <= text.size(); ++step) {
        EXPECT_EQ(chunked(text, step), (Read{State::done, "hello world", "GET"})) << step;
    }
    // Where a parser of a well-known library asserts: nothing but the last chunk, byte by byte.
    EXPECT_EQ(chunked("0\r\n\r\n", 1), (Read{State::done, "", ""}));
}

TEST(Body, WithBadChunksIsRefused) {
    for (const char* bad : {"x\r\n", "\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\n", "1\nA\r\n",
                            "1\r\nAB\r\n", "1\r\nA\n", "1\r\nA0\r\n", "10000000000000000\r\n", "1;a\x01\r\n",
                            "0\r\nno colon\r\n", "0\r\n folded\r\n", "0\r\n: x\r\n", "0\r\nA: b\n\r\n"}) {
        EXPECT_EQ(chunked(bad).state, State::malformed) << bad;
    }
    EXPECT_EQ(chunked("1;" + std::string(300, 'a')).state, State::malformed) << "an endless extension";
    std::string trailers = "0\r\n";
    for (int i = 0; i < 1000; ++i) trailers += "Trailer: 0123\r\n";
    EXPECT_EQ(chunked(trailers).state, State::malformed) << "endless trailers";
}

TEST(Body, BeyondItsLimitIsRefusedWhenTheChunkIsAnnounced) {
    EXPECT_EQ(chunked("3E9\r\n").state, State::too_large);
    EXPECT_EQ(chunked("ffffffffffffffff\r\n").state, State::too_large);
    EXPECT_EQ(read({.framing = Framing::chunked}, "3\r\nabc\r\n2\r\n", 100, 4).state, State::too_large);
    EXPECT_EQ(read({.framing = Framing::chunked}, "3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n", 100, 4).state, State::done);
}

TEST(Body, UntilTheOtherSideClosesEndsThereOnly) {
    const HeadFacts facts{.framing = Framing::until_close};
    BodyReader reader(facts, 10);
    std::string body;
    EXPECT_EQ(reader.feed("abc", body), 3U);
    EXPECT_EQ(reader.state(), State::more);
    reader.end();
    EXPECT_EQ(reader.state(), State::done);
    EXPECT_EQ(read(facts, std::string(11, 'a'), 4, 10).state, State::too_large);
    BodyReader cut({.framing = Framing::length, .length = 5}, 10);
    cut.end();
    EXPECT_EQ(cut.state(), State::malformed);
}

}  // namespace
}  // namespace semel::http
