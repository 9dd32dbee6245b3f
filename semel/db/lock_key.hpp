#pragma once

#include "semel/base/digest.hpp"

#include <cstdint>
#include <string_view>

namespace semel {

/// A digest's first eight bytes as a number.
[[nodiscard]] inline std::uint64_t leading_number(const Digest& digest) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof number; ++i) number = (number << 8U) | std::to_integer<std::uint64_t>(digest[i]);
    return number;
}

/// The key of an advisory lock: 64 bits of a digest that is kept apart by domain ("semel.claim", "semel.append").
/// Never the database's own 32-bit hashes, under which strangers would exclude one another.
[[nodiscard]] inline std::int64_t lock_key(std::string_view domain, BytesView value) {
    Sha256 sha;
    sha.add_part(bytes_of(domain)).add_part(value);
    return static_cast<std::int64_t>(leading_number(std::move(sha).finish()));
}

}  // namespace semel
