#include "semel/base/base64.hpp"

#include <cstdint>

namespace semel {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t group_bytes = 3;
constexpr std::size_t group_digits = 4;

/// 64 and more: no digit.
constexpr std::uint32_t value_of(char digit) noexcept {
    const auto at = alphabet.find(digit);
    return at == std::string_view::npos ? 64U : static_cast<std::uint32_t>(at);
}

}  // namespace

std::string base64(BytesView data) {
    std::string text;
    text.reserve((data.size() + group_bytes - 1) / group_bytes * group_digits);
    for (std::size_t at = 0; at < data.size(); at += group_bytes) {
        const std::size_t here = std::min(group_bytes, data.size() - at);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < group_bytes; ++i)
            bits = bits << 8U | (i < here ? std::to_integer<std::uint32_t>(data[at + i]) : 0U);
        for (std::size_t i = 0; i < group_digits; ++i) text += i <= here ? alphabet[bits >> (18U - 6U * i) & 63U] : '=';
    }
    return text;
}

Result<Bytes> parse_base64(std::string_view text) {
    const auto refuse = [] { return fail(Fault::rejected, "not base64 with padding, as in \"aGVsbG8=\""); };
    if (text.size() % group_digits != 0) return refuse();
    Bytes data;
    data.reserve(text.size() / group_digits * group_bytes);
    for (std::size_t at = 0; at < text.size(); at += group_digits) {
        const bool last = at + group_digits == text.size();
        std::string_view digits = text.substr(at, group_digits);
        if (last)
            for (int i = 0; i < 2 && digits.ends_with('='); ++i) digits.remove_suffix(1);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < group_digits; ++i) {
            const std::uint32_t value = i < digits.size() ? value_of(digits[i]) : 0U;
            if (value > 63) return refuse();
            bits = bits << 6U | value;
        }
        const std::size_t here = digits.size() - 1;
        for (std::size_t i = 0; i < here; ++i) data.push_back(static_cast<std::byte>(bits >> (16U - 8U * i) & 0xffU));
        // Bits that no byte takes: another text would stand for the same bytes.
        if ((bits & ((1U << (8U * (group_bytes - here))) - 1U)) != 0) return refuse();
    }
    return data;
}

}  // namespace semel
