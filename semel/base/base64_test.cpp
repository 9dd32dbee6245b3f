#include "semel/base/base64.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <utility>

namespace semel {
namespace {

/// The examples of RFC 4648.
TEST(Base64, AgreesWithTheExamplesOfTheRfc) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> examples{{{"", ""},
                                                                                     {"f", "Zg=="},
                                                                                     {"fo", "Zm8="},
                                                                                     {"foo", "Zm9v"},
                                                                                     {"foob", "Zm9vYg=="},
                                                                                     {"fooba", "Zm9vYmE="},
                                                                                     {"foobar", "Zm9vYmFy"}}};
    for (const auto& [plain, coded] : examples) {
        EXPECT_EQ(base64(bytes_of(plain)), coded);
        const auto back = parse_base64(coded);
        ASSERT_TRUE(back) << coded;
        EXPECT_EQ(*back, Bytes(bytes_of(plain).begin(), bytes_of(plain).end()));
    }
}

TEST(Base64, EveryBytesComeBack) {
    EXPECT_TRUE(rc::check([](const std::vector<std::uint8_t>& raw) {
        Bytes data;
        for (const std::uint8_t byte : raw) data.push_back(static_cast<std::byte>(byte));
        RC_ASSERT(parse_base64(base64(data)).value() == data);
    }));
}

TEST(Base64, RefusesWhatIsNotTheOneTextOfSomeBytes) {
    for (const std::string_view text :
         {"Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm-_", "Zh==", "Zm9=", "=Zm9", "Zm9vé"})
        EXPECT_FALSE(parse_base64(text)) << text;
}

}  // namespace
}  // namespace semel
