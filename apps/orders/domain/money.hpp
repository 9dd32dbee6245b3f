#pragma once

#include "semel/base/decimal.hpp"
#include "semel/base/result.hpp"

#include <string_view>

namespace orders {

/// More digits before or after the point are a typing error, not a price.
inline constexpr int money_digits_max = 15;
inline constexpr int money_scale_max = 4;

/// A sum of money as people write it: digits, and a point with up to `money_scale_max` digits behind it. No sign and
/// no exponent. Anything else is an Error (`rejected`) that says what is allowed. The digits stay as written: "12.50".
[[nodiscard]] semel::Result<semel::Decimal> parse_money(std::string_view text);

}  // namespace orders
