#pragma once

#include "semel/base/canon_cursor.hpp"

namespace semel::canon {

/// A number as written: its value is ±0.d₁d₂d₃… × 10^(exponent + 1), with the digits from `first` to `last`, both not
/// zero, and perhaps a point between them.
struct Number {
    const char* end = nullptr;  ///< Behind it; or where it was refused.
    const char* reason = nullptr;
    const char* first = nullptr;  ///< None: the value is zero.
    const char* last = nullptr;
    std::size_t digits = 0;
    std::int64_t exponent = 0;
    bool negative = false;
};

/// Reads a number of any size by the grammar of JSON. Looks at the value only where it matters for refusing: two
/// spellings of one value are both taken or both refused.
[[nodiscard]] Number read_number(const char* in) noexcept;

/// The canonical form is at most this much longer than the number was. 1e20 is written as 21 digits; an exact form
/// gains a point and at most 21 characters of exponent.
inline constexpr std::size_t number_growth_max = 32;

/// Writes the canonical form: ECMAScript's if that has the same value, otherwise the exact one.
[[nodiscard]] char* write_number(char* out, const Number& number) noexcept;

/// Copies a number whose canonical form is plain to see: no exponent and at most 15 digits. So few digits survive the
/// way into a double and back (DBL_DIG), and are the shortest that do; ECMAScript prints exactly them, without trailing
/// zeros behind the point. Returns no `in` for any other number, and for what is none.
[[nodiscard]] inline Cursor copy_short_number(Cursor at) noexcept {
    constexpr Cursor other{nullptr, nullptr};
    constexpr std::ptrdiff_t digits_max = 15;
    const char* in = at.in;
    char* out = at.out;
    if (*in == '-') *out++ = *in++;
    const char* const whole = in;
    while (is_digit(*in)) *out++ = *in++;
    std::ptrdiff_t digits = in - whole;
    if (digits == 0 || digits > digits_max || (*whole == '0' && digits > 1)) return other;
    if (*in == '.') {
        *out++ = *in++;
        const char* const fraction = in;
        while (is_digit(*in)) *out++ = *in++;
        digits += in - fraction;
        if (in == fraction || digits > digits_max) return other;
        // Below 10^-6 ECMAScript writes an exponent.
        if (*whole == '0' && std::memcmp(fraction, "000000", 6) == 0) return other;
        while (out[-1] == '0') --out;
        if (out[-1] == '.') --out;
    }
    if (*in == 'e' || *in == 'E') return other;
    if (*whole == '0' && out[-1] == '0') {
        // Zero has no sign.
        *at.out = '0';
        out = at.out + 1;
    }
    return {in, out};
}

}  // namespace semel::canon
