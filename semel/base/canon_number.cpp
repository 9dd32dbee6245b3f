#include "semel/base/canon_number.hpp"

#include "semel/base/assert.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace semel::canon {
namespace {

/// Every double has a shortest form of at most so many digits.
constexpr std::size_t double_digits_max = 17;

/// A number's digits, without zeros at either end, and the exponent of the first one.
struct Digits {
    std::array<char, double_digits_max> text{};
    std::size_t count = 0;
    int exponent = 0;

    [[nodiscard]] std::string_view view() const noexcept { return {text.data(), count}; }
};

Number refused(const char* at, const char* reason) noexcept {
    Number number;
    number.end = at;
    number.reason = reason;
    return number;
}

const char* skip_digits(const char* in) noexcept {
    while (is_digit(*in)) ++in;
    return in;
}

__extension__ typedef __int128 Wide;

/// An exponent as written, or far beyond 64 bits if it is: no document has digits enough to bring it back by moving
/// the point.
Wide read_exponent(const char* in, const char* end) noexcept {
    constexpr Wide beyond = static_cast<Wide>(1) << 96U;
    const bool negative = *in == '-';
    if (*in == '-' || *in == '+') ++in;
    Wide value = 0;
    for (; in != end; ++in) value = std::min<Wide>(value * 10 + (*in - '0'), beyond);
    return negative ? -value : value;
}

char* put(char* out, std::string_view text) noexcept { return std::ranges::copy(text, out).out; }
char* put_zeros(char* out, int count) noexcept { return std::fill_n(out, count, '0'); }

/// `e`, a sign, and the exponent.
char* put_exponent(char* out, std::int64_t exponent) noexcept {
    *out++ = 'e';
    if (exponent >= 0) *out++ = '+';
    constexpr std::ptrdiff_t longest = 20;
    return std::to_chars(out, out + longest, exponent).ptr;
}

/// As ECMAScript's Number::toString lays the digits out.
char* put_as_ecmascript(char* out, const Digits& digits) noexcept {
    const int count = static_cast<int>(digits.count);
    const int whole = digits.exponent + 1;  // How many digits stand before the point.
    if (count <= whole && whole <= 21) return put_zeros(put(out, digits.view()), whole - count);
    if (0 < whole && whole <= 21) {
        const auto before = static_cast<std::size_t>(whole);
        out = put(out, digits.view().substr(0, before));
        *out++ = '.';
        return put(out, digits.view().substr(before));
    }
    if (-6 < whole && whole <= 0) return put(put_zeros(put(out, "0."), -whole), digits.view());
    *out++ = digits.text[0];
    if (count > 1) {
        *out++ = '.';
        out = put(out, digits.view().substr(1));
    }
    return put_exponent(out, digits.exponent);
}

/// Scientific normal form, of the digits as they stand in the document.
char* put_exact(char* out, const Number& number) noexcept {
    *out++ = *number.first;
    if (number.digits > 1) *out++ = '.';
    for (const char* in = number.first + 1; in <= number.last; ++in)
        if (*in != '.') *out++ = *in;
    return put_exponent(out, number.exponent);
}

/// The shortest digits of the double that is nearest to the given ones; none if that is zero or infinite.
Digits through_double(const Digits& digits) noexcept {
    std::array<char, 32> text{};
    char* end = put(text.data(), digits.view());
    *end++ = 'e';
    end = std::to_chars(end, text.data() + text.size(), digits.exponent + 1 - static_cast<int>(digits.count)).ptr;
    double value = 0;
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc() || value == 0 || !std::isfinite(value)) return {};

    end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific).ptr;
    Digits shortest;
    const char* in = text.data();
    for (; *in != 'e'; ++in)
        if (*in != '.') shortest.text[shortest.count++] = *in;
    ++in;
    if (*in == '+') ++in;
    std::from_chars(in, end, shortest.exponent);
    while (shortest.count > 1 && shortest.text[shortest.count - 1] == '0') --shortest.count;
    return shortest;
}

/// The digits in a buffer, if a double might have exactly these.
bool fits_double(const Number& number, Digits& digits) noexcept {
    using Limits = std::numeric_limits<double>;
    constexpr int smallest = -324;  // 4.9e-324 is written as 5e-324.
    if (number.digits > double_digits_max || number.exponent < smallest || number.exponent > Limits::max_exponent10)
        return false;
    for (const char* in = number.first; in <= number.last; ++in)
        if (*in != '.') digits.text[digits.count++] = *in;
    digits.exponent = static_cast<int>(number.exponent);
    return true;
}

}  // namespace

Number read_number(const char* in) noexcept {
    Number number;
    number.negative = *in == '-';
    if (number.negative) ++in;
    const char* const whole = in;
    in = skip_digits(in);
    if (in == whole) return refused(in, "a number without a digit");
    if (*whole == '0' && in - whole > 1) return refused(whole, "a number with a leading zero");
    const char* const point = in;
    if (*in == '.') {
        in = skip_digits(in + 1);
        if (in == point + 1) return refused(in, "a number without a digit after its point");
    }
    const char* const mantissa_end = in;
    Wide exponent = 0;
    if (*in == 'e' || *in == 'E') {
        const char* const sign = ++in;
        if (*in == '-' || *in == '+') ++in;
        const char* const digits = in;
        in = skip_digits(in);
        if (in == digits) return refused(in, "a number without a digit in its exponent");
        exponent = read_exponent(sign, in);
    }
    number.end = in;

    const auto counts = [](char c) { return c >= '1' && c <= '9'; };
    const char* const first = std::find_if(whole, mantissa_end, counts);
    if (first == mantissa_end) return number;
    const char* last = mantissa_end - 1;
    while (!counts(*last)) --last;
    exponent += first < point ? point - first - 1 : point - first;
    if (exponent < std::numeric_limits<std::int64_t>::min() || exponent > std::numeric_limits<std::int64_t>::max())
        return refused(whole, "a number whose exponent does not fit in 64 bits");
    number.first = first;
    number.last = last;
    number.digits = static_cast<std::size_t>(last - first) + (first < point && point < last ? 0 : 1);
    number.exponent = static_cast<std::int64_t>(exponent);
    return number;
}

char* write_number(char* out, const Number& number) noexcept {
    SEMEL_ASSERT(number.reason == nullptr);
    if (number.first == nullptr) return put(out, "0");
    if (number.negative) *out++ = '-';
    Digits written;
    if (!fits_double(number, written)) return put_exact(out, number);
    const Digits shortest = through_double(written);
    const bool same = shortest.exponent == written.exponent && shortest.view() == written.view();
    return same ? put_as_ecmascript(out, shortest) : put_exact(out, number);
}

}  // namespace semel::canon
