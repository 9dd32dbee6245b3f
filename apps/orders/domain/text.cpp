#include "apps/orders/domain/text.hpp"

#include <algorithm>

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
    return !text.empty() && text.size() <= subject_size_max && std::ranges::none_of(text, is_control);
}

}  // namespace orders
