#include "semel/base/decimal.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace semel {
namespace {

__extension__ typedef unsigned __int128 Magnitude;

constexpr auto powers = [] {
    std::array<Magnitude, Decimal::digits_max + 1> table{};
    Magnitude power = 1;
    for (auto& entry : table) {
        entry = power;
        power *= 10;
    }
    return table;
}();
constexpr Magnitude power_of_ten(int exponent) noexcept { return powers[static_cast<std::size_t>(exponent)]; }
/// The first magnitude with too many digits.
constexpr Magnitude limit = power_of_ten(Decimal::digits_max);

constexpr Magnitude magnitude(Int128 value) noexcept {
    return value < 0 ? -static_cast<Magnitude>(value) : static_cast<Magnitude>(value);
}
constexpr Int128 with_sign(Magnitude value, bool negative) noexcept {
    return negative ? -static_cast<Int128>(value) : static_cast<Int128>(value);
}

tl::unexpected<Error> too_large() { return fail(Fault::rejected, "the number does not fit in 38 digits"); }
tl::unexpected<Error> not_a_number() { return fail(Fault::rejected, "not a decimal number, like -12.50"); }

/// A number on its way to a Decimal: not yet known to fit. Dropping trailing zeros is exact.
struct Wide {
    std::array<std::uint64_t, 4> limbs{};  ///< Least significant first.
    int scale = 0;

    static Wide of(Magnitude value, int scale) noexcept {
        return {.limbs = {static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(value >> 64U), 0, 0},
                .scale = scale};
    }
    static Wide product(Magnitude a, Magnitude b, int scale) noexcept {
        const Wide x = of(a, 0);
        const Wide y = of(b, 0);
        Wide result{.limbs = {}, .scale = scale};
        for (std::size_t i = 0; i < 2; ++i) {
            std::uint64_t carry = 0;
            for (std::size_t j = 0; j < 2; ++j) {
                const Magnitude sum = Magnitude{x.limbs[i]} * y.limbs[j] + result.limbs[i + j] + carry;
                result.limbs[i + j] = static_cast<std::uint64_t>(sum);
                carry = static_cast<std::uint64_t>(sum >> 64U);
            }
            result.limbs[i + 2] = carry;
        }
        return result;
    }

    [[nodiscard]] Magnitude low() const noexcept { return Magnitude{limbs[1]} << 64U | limbs[0]; }
    [[nodiscard]] bool fits() const noexcept {
        return limbs[2] == 0 && limbs[3] == 0 && low() < limit && scale <= Decimal::scale_max;
    }
    /// Drops the last digit; false if it is not a zero.
    bool drop_zero() noexcept {
        Wide quotient{.limbs = {}, .scale = scale - 1};
        std::uint64_t remainder = 0;
        for (std::size_t i = limbs.size(); i-- > 0;) {
            const Magnitude part = Magnitude{remainder} << 64U | limbs[i];
            quotient.limbs[i] = static_cast<std::uint64_t>(part / 10);
            remainder = static_cast<std::uint64_t>(part % 10);
        }
        if (remainder != 0) return false;
        *this = quotient;
        return true;
    }
    /// The same number with as many of its decimal places as fit.
    [[nodiscard]] Result<Decimal> narrow(bool negative) {
        while (!fits())
            if (scale == 0 || !drop_zero()) return too_large();
        return Decimal::of(with_sign(low(), negative), scale);
    }
};

/// coefficient × 10^places, unless that takes more than 128 bits.
std::optional<Magnitude> shifted(Magnitude coefficient, int places) noexcept {
    Magnitude result = 0;
    if (__builtin_mul_overflow(coefficient, power_of_ten(places), &result)) return std::nullopt;
    return result;
}

struct Aligned {
    Magnitude a = 0;
    Magnitude b = 0;
    int scale = 0;
};

/// Both at one scale; empty when that takes more than 128 bits, even without trailing zeros.
std::optional<Aligned> align(Wide a, Wide b) noexcept {
    for (;;) {
        const int scale = std::max(a.scale, b.scale);
        const auto left = shifted(a.low(), scale - a.scale);
        const auto right = shifted(b.low(), scale - b.scale);
        if (left && right) return Aligned{.a = *left, .b = *right, .scale = scale};
        if (Wide& longer = a.scale > b.scale ? a : b; !longer.drop_zero()) return std::nullopt;
    }
}

/// a + b, or a - b when `negate` turns the sign of b.
Result<Decimal> sum(const Decimal& a, const Decimal& b, bool negate) {
    const auto aligned =
        align(Wide::of(magnitude(a.coefficient()), a.scale()), Wide::of(magnitude(b.coefficient()), b.scale()));
    if (!aligned) return too_large();
    const bool a_negative = a.negative();
    const bool b_negative = b.negative() != negate;
    if (a_negative != b_negative) {
        const bool a_larger = aligned->a >= aligned->b;
        return Wide::of(a_larger ? aligned->a - aligned->b : aligned->b - aligned->a, aligned->scale)
            .narrow(a_larger ? a_negative : b_negative);
    }
    Wide total = Wide::of(aligned->a, aligned->scale);
    Magnitude low = 0;
    if (__builtin_add_overflow(aligned->a, aligned->b, &low)) total.limbs[2] = 1;
    total.limbs[0] = static_cast<std::uint64_t>(low);
    total.limbs[1] = static_cast<std::uint64_t>(low >> 64U);
    return total.narrow(a_negative);
}

bool rounds_up(Magnitude quotient, Magnitude remainder, Magnitude divisor, Rounding rounding) noexcept {
    const Magnitude twice = remainder * 2;  // At most 2·10^38, which 128 bits hold.
    switch (rounding) {
        case Rounding::down: return false;
        case Rounding::half_up: return twice >= divisor;
        case Rounding::half_even: return twice > divisor || (twice == divisor && quotient % 2 == 1);
    }
    return false;
}

/// The digits of `e+12` after the e; empty if it is not a number of at most four digits, which is
/// more than any Decimal can use.
std::optional<int> read_exponent(std::string_view text) noexcept {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (text.empty() || text.size() > 4) return std::nullopt;
    int value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return negative ? -value : value;
}

}  // namespace

Result<Decimal> Decimal::of(Int128 coefficient, int scale) {
    if (scale < 0 || scale > scale_max) return fail(Fault::rejected, "a decimal number has 0 to 38 decimal places");
    if (magnitude(coefficient) >= limit) return too_large();
    Decimal number;
    number.coefficient_ = coefficient;
    number.scale_ = scale;
    return number;
}

Result<Decimal> Decimal::parse(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    int exponent = 0;
    if (const auto e = text.find_first_of("eE"); e != std::string_view::npos) {
        const auto read = read_exponent(text.substr(e + 1));
        if (!read) return not_a_number();
        exponent = *read;
        text = text.substr(0, e);
    }

    Magnitude coefficient = 0;
    std::int64_t places = 0;
    bool after_point = false;
    bool any_digit = false;
    for (const char c : text) {
        if (c == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (c < '0' || c > '9') return not_a_number();
        any_digit = true;
        coefficient = coefficient * 10 + static_cast<Magnitude>(c - '0');
        if (coefficient >= limit) return too_large();
        if (after_point) ++places;
    }
    if (!any_digit) return not_a_number();

    std::int64_t scale = places - exponent;
    if (scale > scale_max) return fail(Fault::rejected, "a decimal number has at most 38 decimal places");
    if (coefficient == 0) scale = std::max<std::int64_t>(scale, 0);
    for (; scale < 0; ++scale) {
        coefficient *= 10;
        if (coefficient >= limit) return too_large();
    }
    return of(with_sign(coefficient, negative), static_cast<int>(scale));
}

std::string Decimal::text() const {
    std::string reversed;
    Magnitude left = magnitude(coefficient_);
    for (int place = 0; left > 0 || place <= scale_; ++place) {
        if (place == scale_ && scale_ > 0) reversed.push_back('.');
        reversed.push_back(static_cast<char>('0' + static_cast<int>(left % 10)));
        left /= 10;
    }
    if (negative()) reversed.push_back('-');
    return {reversed.rbegin(), reversed.rend()};
}

Result<Decimal> Decimal::plus(const Decimal& other) const { return sum(*this, other, false); }
Result<Decimal> Decimal::minus(const Decimal& other) const { return sum(*this, other, true); }

Result<Decimal> Decimal::times(const Decimal& other) const {
    return Wide::product(magnitude(coefficient_), magnitude(other.coefficient_), scale_ + other.scale_)
        .narrow(negative() != other.negative());
}

Result<Decimal> Decimal::rounded(int scale, Rounding rounding) const {
    if (scale < 0 || scale > scale_max) return of(coefficient_, scale);
    const Magnitude value = magnitude(coefficient_);
    if (scale >= scale_) {
        const auto wider = shifted(value, scale - scale_);
        if (!wider || *wider >= limit) return too_large();
        return of(with_sign(*wider, negative()), scale);
    }
    const Magnitude divisor = power_of_ten(scale_ - scale);
    const Magnitude quotient = value / divisor;
    const bool up = rounds_up(quotient, value % divisor, divisor, rounding);
    return of(with_sign(quotient + (up ? 1 : 0), negative()), scale);
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) noexcept {
    const auto sign = [](const Decimal& d) { return d.coefficient_ < 0 ? -1 : d.coefficient_ > 0 ? 1 : 0; };
    if (sign(a) != sign(b) || sign(a) == 0) return sign(a) <=> sign(b);
    // At one scale the coefficients might not fit; whole and fractional parts, one by one, do.
    const auto parts = [](const Decimal& d) {
        const Magnitude value = magnitude(d.coefficient_);
        const Magnitude one = power_of_ten(d.scale_);
        return std::pair(value / one, value % one * power_of_ten(Decimal::scale_max - d.scale_));
    };
    const auto [a_whole, a_fraction] = parts(a);
    const auto [b_whole, b_fraction] = parts(b);
    auto order = std::strong_ordering::equal;
    if (a_whole != b_whole) {
        order = a_whole < b_whole ? std::strong_ordering::less : std::strong_ordering::greater;
    } else if (a_fraction != b_fraction) {
        order = a_fraction < b_fraction ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    return sign(a) > 0 ? order : 0 <=> order;
}

}  // namespace semel
