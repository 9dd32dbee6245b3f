#include "semel/base/digest.hpp"

#include <gtest/gtest.h>

#include <string>

namespace semel {
namespace {

std::string hash(std::string_view text) { return hex(sha256(bytes_of(text))); }

TEST(Digest, MatchesThePublishedVectors) {
    EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hash(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, PiecesAddUpToTheWhole) {
    Sha256 pieces;
    pieces.add(bytes_of("a")).add(bytes_of("")).add(bytes_of("bc"));
    EXPECT_EQ(hex(std::move(pieces).finish()), hash("abc"));
}

TEST(Digest, PartsKeepTheirBoundaries) {
    const auto parts = [](std::string_view one, std::string_view two) {
        Sha256 sum;
        sum.add_part(bytes_of(one)).add_part(bytes_of(two));
        return hex(std::move(sum).finish());
    };
    EXPECT_NE(parts("ab", "c"), parts("a", "bc"));
    EXPECT_NE(parts("", "abc"), parts("abc", ""));
    EXPECT_EQ(parts("ab", "c"), hash(std::string("\0\0\0\0\0\0\0\2ab\0\0\0\0\0\0\0\1c", 19)));
}

TEST(Digest, MovesWithItsState) {
    Sha256 first;
    first.add(bytes_of("ab"));
    Sha256 second = std::move(first);
    second.add(bytes_of("c"));
    EXPECT_EQ(hex(std::move(second).finish()), hash("abc"));
}

TEST(DigestDeathTest, CannotBeUsedAfterItsEnd) {
    Sha256 sum;
    static_cast<void>(std::move(sum).finish());
    // NOLINTNEXTLINE(bugprone-use-after-move): that is the mistake it must catch.
    EXPECT_DEATH(sum.add(bytes_of("late")), "assertion failed");
}

TEST(Digest, HexIsLowerCaseAndKeepsLeadingZeros) {
    EXPECT_EQ(hex(bytes_of(std::string_view("\x00\x0f\xA0", 3))), "000fa0");
}

}  // namespace
}  // namespace semel
