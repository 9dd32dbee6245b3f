#include "semel/base/hmac.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

/// The examples of RFC 4231.
TEST(Hmac, AgreesWithTheExamplesOfTheRfc) {
    EXPECT_EQ(hex(hmac_sha256(Bytes(20, std::byte{0x0b}), bytes_of("Hi There"))),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hex(hmac_sha256(bytes_of("Jefe"), bytes_of("what do ya want for nothing?"))),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    // A key longer than a block is hashed first.
    EXPECT_EQ(hex(hmac_sha256(Bytes(131, std::byte{0xaa}),
                              bytes_of("Test Using Larger Than Block-Size Key - Hash Key First"))),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Hmac, AKeyOfExactlyOneBlockIsUsedAsItIs) {
    EXPECT_NE(hmac_sha256(Bytes(64, std::byte{1}), bytes_of("x")),
              hmac_sha256(sha256(Bytes(64, std::byte{1})), bytes_of("x")));
    EXPECT_EQ(hmac_sha256(Bytes(65, std::byte{1}), bytes_of("x")),
              hmac_sha256(sha256(Bytes(65, std::byte{1})), bytes_of("x")));
}

TEST(Hmac, ComparesWholeTexts) {
    EXPECT_TRUE(equal_in_constant_time(bytes_of("same"), bytes_of("same")));
    EXPECT_TRUE(equal_in_constant_time({}, {}));
    EXPECT_FALSE(equal_in_constant_time(bytes_of("same"), bytes_of("sane")));
    EXPECT_FALSE(equal_in_constant_time(bytes_of("same"), bytes_of("same and more")));
}

}  // namespace
}  // namespace semel
