#pragma once

namespace semel {

/// What a hexadecimal digit of either case stands for; less than zero: it is none.
[[nodiscard]] constexpr int hex_value(char digit) noexcept {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

}  // namespace semel
