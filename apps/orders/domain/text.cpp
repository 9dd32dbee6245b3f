#include "apps/orders/domain/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace orders {
namespace {

// By hand: what a letter is must not depend on the locale.
constexpr bool is_capital(char c) noexcept { return c >= 'A' && c <= 'Z'; }

constexpr bool is_code_character(char c) noexcept {
    return is_capital(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == ':' ||
           c == '-';
}

constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

bool is_code(std::string_view text) noexcept {
    return !text.empty() && text.size() <= code_size_max && std::ranges::all_of(text, is_code_character);
}

bool is_currency(std::string_view text) noexcept { return text.size() == 3 && std::ranges::all_of(text, is_capital); }

bool is_subject(std::string_view text) noexcept {
    // A character of UTF-8 begins with any byte but 10xxxxxx.
    const auto characters =
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; });
    return !text.empty() && static_cast<std::size_t>(characters) <= subject_size_max &&
           std::ranges::none_of(text, is_control);
}

bool is_date(std::string_view text) noexcept {
    constexpr std::string_view shape = "dddd-dd-dd";
    if (text.size() != shape.size()) return false;
    std::array<int, 3> parts{};
    std::size_t part = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == '-') {
            if (text[i] != '-') return false;
            ++part;
        } else {
            if (text[i] < '0' || text[i] > '9') return false;
            parts[part] = parts[part] * 10 + (text[i] - '0');
        }
    }
    return std::chrono::year_month_day(std::chrono::year(parts[0]), std::chrono::month(static_cast<unsigned>(parts[1])),
                                       std::chrono::day(static_cast<unsigned>(parts[2])))
        .ok();
}

}  // namespace orders
