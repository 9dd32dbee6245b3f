#pragma once

#include <cstddef>
#include <string_view>

namespace orders {

inline constexpr std::size_t code_size_max = 64;
inline constexpr std::size_t subject_size_max = 200;

/// A name that people and programs exchange (customer, SKU, reference, violation code): 1 to `code_size_max` letters,
/// digits, `.`, `_`, `:` and `-`.
[[nodiscard]] bool is_code(std::string_view text) noexcept;

/// Three capital letters, as in ISO 4217. Which of them are in use is the bank's business.
[[nodiscard]] bool is_currency(std::string_view text) noexcept;

/// One line for people: 1 to `subject_size_max` characters, without control characters.
[[nodiscard]] bool is_subject(std::string_view text) noexcept;

/// A day that there is, as in 2026-12-01.
[[nodiscard]] bool is_date(std::string_view text) noexcept;

}  // namespace orders
