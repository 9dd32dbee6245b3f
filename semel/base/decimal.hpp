#pragma once

#include "semel/base/result.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace semel {

__extension__ typedef __int128 Int128;

/// How a digit is dropped.
enum class Rounding : std::uint8_t {
    half_even,  ///< To the nearest, ties to the even neighbour: no drift over many sums.
    half_up,    ///< To the nearest, ties away from zero, as invoices do.
    down,       ///< Towards zero.
};

/// An exact decimal number: coefficient × 10^-scale, up to 38 significant digits. For money and
/// quantities; there is no way in from a floating-point number. The scale is kept ("1.50" prints
/// as "1.50") but does not count in comparisons (1.5 == 1.50).
class Decimal {
public:
    static constexpr int digits_max = 38;
    static constexpr int scale_max = 38;

    constexpr Decimal() = default;
    constexpr Decimal(std::int64_t whole) : coefficient_(whole) {}

    /// Reads `-12.50`, `3`, `.5`, `1e3`. Refuses NaN, infinities and more than 38 digits.
    [[nodiscard]] static Result<Decimal> parse(std::string_view text);
    /// coefficient × 10^-scale; refuses what does not fit.
    [[nodiscard]] static Result<Decimal> of(Int128 coefficient, int scale);

    [[nodiscard]] std::string text() const;
    [[nodiscard]] int scale() const noexcept { return scale_; }
    [[nodiscard]] Int128 coefficient() const noexcept { return coefficient_; }
    [[nodiscard]] bool negative() const noexcept { return coefficient_ < 0; }

    /// Each is exact, or an Error (`rejected`) when the result does not fit in 38 digits.
    [[nodiscard]] Result<Decimal> plus(const Decimal&) const;
    [[nodiscard]] Result<Decimal> minus(const Decimal&) const;
    [[nodiscard]] Result<Decimal> times(const Decimal&) const;
    /// The same number with `scale` digits after the point.
    [[nodiscard]] Result<Decimal> rounded(int scale, Rounding) const;

    friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) noexcept;
    friend bool operator==(const Decimal& a, const Decimal& b) noexcept { return (a <=> b) == 0; }

private:
    Int128 coefficient_ = 0;
    int scale_ = 0;
};

}  // namespace semel
