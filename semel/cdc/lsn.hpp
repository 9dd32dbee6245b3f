#pragma once

#include "semel/base/result.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace semel::cdc {

/// A place in the log of a PostgreSQL server. Zero is before everything.
struct Lsn {
    std::uint64_t value = 0;

    friend auto operator<=>(const Lsn&, const Lsn&) = default;

    /// As the server writes it: "16/B374D848".
    [[nodiscard]] std::string text() const;
    [[nodiscard]] static Result<Lsn> parse(std::string_view text);
};

}  // namespace semel::cdc
