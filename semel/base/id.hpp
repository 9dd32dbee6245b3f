#pragma once

#include "semel/base/random.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

namespace semel {

/// 128 bits that name one thing. Ordered as PostgreSQL orders its uuid type: bytewise.
struct Uuid {
    std::array<std::byte, 16> bytes{};

    friend auto operator<=>(const Uuid&, const Uuid&) = default;

    /// Lower-case, with hyphens: 8-4-4-4-12.
    [[nodiscard]] std::string text() const;
    /// Accepts exactly the form that `text` writes, in either case.
    [[nodiscard]] static Result<Uuid> parse(std::string_view text);
};

/// Makes UUIDv7 (RFC 9562): the millisecond of the calendar clock, then a counter that keeps the
/// ids of one generator strictly increasing, then chance. Clocks of different processes may
/// differ, so an id says who, never when. Not thread-safe.
class UuidGenerator {
public:
    UuidGenerator(const Clock& clock, Random& random) noexcept : clock_(&clock), random_(&random) {}
    [[nodiscard]] Uuid next() noexcept;

private:
    const Clock* clock_;
    Random* random_;
    std::uint64_t millisecond_ = 0;
    std::uint16_t counter_ = 0;
};

/// A fresh UUIDv7 from the system's clock and chance. Thread-safe.
[[nodiscard]] Uuid new_uuid() noexcept;

}  // namespace semel
