#include "semel/base/canon_number.hpp"

#include "semel/base/canon.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <bit>
#include <charconv>
#include <string>

namespace semel::canon {
namespace {

using ::testing::HasSubstr;

std::string canon(std::string_view text) {
    const auto canonical = canonical_json(text);
    return canonical ? *canonical : "refused: " + canonical.error().message;
}

/// The shortest digits that give this double; never laid out as ECMAScript does.
std::string scientific(double value) {
    std::array<char, 64> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific).ptr;
    return {text.data(), end};
}

TEST(CanonicalNumber, PrintsTheTableOfRfc8785) {
    struct Row {
        std::uint64_t bits;
        std::string_view text;
    };
    // Appendix B, without NaN and Infinity, which JSON cannot write.
    constexpr std::array table{
        Row{0x0000000000000000, "0"},
        Row{0x8000000000000000, "0"},
        Row{0x0000000000000001, "5e-324"},
        Row{0x8000000000000001, "-5e-324"},
        Row{0x7fefffffffffffff, "1.7976931348623157e+308"},
        Row{0xffefffffffffffff, "-1.7976931348623157e+308"},
        Row{0x4340000000000000, "9007199254740992"},
        Row{0xc340000000000000, "-9007199254740992"},
        Row{0x4430000000000000, "295147905179352830000"},
        Row{0x44b52d02c7e14af5, "9.999999999999997e+22"},
        Row{0x44b52d02c7e14af6, "1e+23"},
        Row{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        Row{0x444b1ae4d6e2ef4e, "999999999999999700000"},
        Row{0x444b1ae4d6e2ef4f, "999999999999999900000"},
        Row{0x444b1ae4d6e2ef50, "1e+21"},
        Row{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        Row{0x3eb0c6f7a0b5ed8d, "0.000001"},
        Row{0x41b3de4355555553, "333333333.3333332"},
        Row{0x41b3de4355555554, "333333333.33333325"},
        Row{0x41b3de4355555555, "333333333.3333333"},
        Row{0x41b3de4355555556, "333333333.3333334"},
        Row{0x41b3de4355555557, "333333333.33333343"},
        Row{0xbecbf647612f3696, "-0.0000033333333333333333"},
        Row{0x43143ff3c1cb0959, "1424953923781206.2"},
        Row{0x4340000000000001, "9007199254740994"},
        Row{0x0010000000000000, "2.2250738585072014e-308"},
        Row{0x000fffffffffffff, "2.225073858507201e-308"},
    };
    for (const auto& [bits, text] : table) {
        EXPECT_EQ(canon(scientific(std::bit_cast<double>(bits))), text);
        EXPECT_EQ(canon(text), text);
    }
}

TEST(CanonicalNumber, HasOneFormForEachValue) {
    struct Row {
        std::string_view canonical;
        std::vector<std::string_view> spellings;
    };
    const std::vector<Row> table{
        {"0", {"0", "-0", "0.0", "-0.0", "0e5", "-0.000e-99", "0E+99999999999999999999999999", "0.0000000"}},
        {"1", {"1", "1.0", "1e0", "1E+0", "10e-1", "0.1e1", "1.000000000000000000000000", "1e-0"}},
        {"-1", {"-1", "-1.0", "-10E-1"}},
        {"10", {"10", "10.0", "1e1", "1.0E1"}},
        {"100", {"100", "100.00", "1e2", "1e002"}},
        {"0.1", {"0.1", "0.10", "1e-1", "0.1000000000000000000000"}},
        {"0.000001", {"0.000001", "1e-6", "0.0000010"}},
        {"0.0000012", {"0.0000012", "1.2e-6"}},
        {"1e-7", {"1e-7", "0.0000001", "0.00000010"}},
        {"1.5e-7", {"0.00000015", "15e-8"}},
        {"100000000000000000000", {"100000000000000000000", "1e20", "10e19"}},
        {"1e+21", {"1e21", "1E+21", "1000000000000000000000", "0.1e22"}},
        {"123456789012345", {"123456789012345", "123456789012345.0"}},
        {"1234567890123456", {"1234567890123456", "1234567890123456.00"}},
        {"0.12345678901234", {"0.12345678901234", "0.1234567890123400"}},
        {"9007199254740992", {"9007199254740992", "9007199254740992.0", "9.007199254740992e15"}},
        {"9.007199254740993e+15",
         {"9007199254740993", "9007199254740993.0", "9007199254740993e0", "90071992547409930e-1",
          "9.007199254740993e15", "0.9007199254740993e16"}},
        {"-9.007199254740993e+15", {"-9007199254740993", "-9007199254740993.000"}},
        {"1.0000000000000000001e-1", {"0.10000000000000000001", "0.100000000000000000010", "10000000000000000001e-20"}},
        {"1.8446744073709551615e+19", {"18446744073709551615", "18446744073709551615.0"}},
        {"1e+400", {"1e400", "1E+400", "10e399", "0.01e402", "1.000e0400"}},
        {"1e-400", {"1e-400", "0.1e-399", "100e-402"}},
        {"-1e-400", {"-1e-400"}},
        {"1e+309", {"1e309"}},
        {"1.7976931348623159e+308", {"1.7976931348623159e308"}},
        {"2e-324", {"2e-324", "0.2e-323"}},  // Rounds to zero.
        {"3e-324", {"3e-324"}},              // Rounds to 5e-324.
        {"4.9e-324", {"4.9e-324"}},
        {"5e-324", {"5e-324", "50e-325"}},
        {"1e+999999999", {"1e999999999", "10e999999998"}},
        {"1e+9223372036854775807", {"1e9223372036854775807", "0.1e9223372036854775808", "0.01e9223372036854775809"}},
        {"1e-9223372036854775808", {"1e-9223372036854775808", "10e-9223372036854775809"}},
    };
    for (const Row& row : table) {
        EXPECT_EQ(canon(row.canonical), row.canonical);
        for (const std::string_view spelling : row.spellings) {
            EXPECT_EQ(canon(spelling), row.canonical) << spelling;
            EXPECT_EQ(canon("[" + std::string(spelling) + "]"), "[" + std::string(row.canonical) + "]") << spelling;
        }
    }
}

TEST(CanonicalNumber, RefusesAnExponentBeyondSixtyFourBitsInEverySpelling) {
    for (const std::string_view text : {"1e9223372036854775808", "10e9223372036854775807", "1e-9223372036854775809",
                                        "0.1e-9223372036854775808", "-1e99999999999999999999999999999999999999999999"})
        EXPECT_THAT(canon(text), HasSubstr("exponent does not fit in 64 bits")) << text;
    EXPECT_THAT(canon("1e" + std::string(100'000, '9')), HasSubstr("exponent does not fit in 64 bits"));
    EXPECT_EQ(canon("1e" + std::string(100'000, '0') + "1"), "10");
}

TEST(CanonicalNumber, KeepsEveryDigitOfALongNumber) {
    const std::string digits = "1" + std::string(50'000, '0') + "7";
    EXPECT_EQ(canon(digits), "1." + digits.substr(1) + "e+50001");
    EXPECT_EQ(canon(digits + "." + std::string(50'000, '0')), canon(digits));
    EXPECT_EQ(canon("0." + std::string(50'000, '0') + "7"), "7e-50001");
    EXPECT_EQ(canon("7" + std::string(50'000, '0')), "7e+50000");
}

/// The digits and the exponent of a decimal text, the plain way.
std::pair<std::string, long> value_of(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const std::size_t e = text.find_first_of("eE");
    long exponent = e == std::string_view::npos ? 0 : std::stol(std::string(text.substr(e + 1)));
    std::string digits(text.substr(0, e));
    if (const std::size_t point = digits.find('.'); point != std::string::npos) {
        exponent -= static_cast<long>(digits.size() - point - 1);
        digits.erase(point, 1);
    }
    while (digits.size() > 1 && digits.back() == '0') digits.pop_back(), ++exponent;
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
    if (digits.empty()) return {"", 0};
    return {(negative ? "-" : "") + digits, exponent};
}

TEST(CanonicalNumber, AlwaysHasExactlyTheValueThatWasWritten) {
    const auto digits = [](int least, int most) {
        return rc::gen::mapcat(rc::gen::inRange(least, most + 1), [](int count) {
            return rc::gen::container<std::string>(static_cast<std::size_t>(count), rc::gen::inRange('0', ':'));
        });
    };
    EXPECT_TRUE(rc::check([&] {
        std::string whole = *digits(1, 22);
        whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size() - 1));
        const std::string fraction = *digits(0, 22);
        const int exponent = *rc::gen::inRange(-350, 350);
        std::string text = (*rc::gen::arbitrary<bool>() ? "-" : "") + whole;
        if (!fraction.empty()) text += "." + fraction;
        if (*rc::gen::arbitrary<bool>()) text += "e" + std::to_string(exponent);
        const std::string canonical = canon(text);
        RC_ASSERT(value_of(canonical) == value_of(text));
        RC_ASSERT(canon(canonical) == canonical);
        RC_ASSERT(canonical.size() <= text.size() + number_growth_max);
    }));
}

TEST(CanonicalNumber, TakesTheShortWayOnlyWhereItEndsInTheSamePlace) {
    EXPECT_TRUE(rc::check([] {
        const auto size = *rc::gen::inRange(1, 18);
        std::string text(static_cast<std::size_t>(size), '0');
        for (char& c : text) c = *rc::gen::element('0', '0', '0', '1', '5', '9');
        if (*rc::gen::arbitrary<bool>()) text.insert(*rc::gen::inRange<std::size_t>(1, text.size() + 1), ".0");
        text.erase(0, std::min(text.find_first_not_of('0'), text.size() - 1));
        if (text.starts_with('.')) text.insert(0, "0");
        if (*rc::gen::arbitrary<bool>()) text.insert(0, "-");
        std::string padded = text + std::string(input_padding, '\0');
        std::string out(text.size() + output_slack, '\0');
        std::string slow(text.size() + number_growth_max, '\0');
        slow.resize(static_cast<std::size_t>(write_number(slow.data(), read_number(padded.data())) - slow.data()));
        const Cursor copied = copy_short_number({padded.data(), out.data()});
        if (copied.in == nullptr) return;
        RC_ASSERT(copied.in == padded.data() + text.size());
        RC_ASSERT(std::string(out.data(), copied.out) == slow);
    }));
}

}  // namespace
}  // namespace semel::canon
