#pragma once

#include "semel/base/result.hpp"
#include "semel/retry/deadline.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace semel {

/// Who repeats a call that passes through several layers. Only one of them does, or three layers
/// of three attempts make twenty-seven.
enum class RetryOwner : std::uint8_t {
    here,   ///< This layer.
    outer,  ///< A layer further out: one attempt here.
};

/// What travels inward with a call, in headers between processes, so that every layer knows whose
/// attempt it is serving and how long that one will wait.
struct RetryContext {
    std::uint32_t attempt = 1;  ///< Which attempt of the owner this is, from 1.
    std::string owner{};        ///< Who retries; empty if nobody claimed it yet.
    Deadline deadline{};

    /// Whether the layer called `self` may retry. An unclaimed call is its finder's.
    [[nodiscard]] RetryOwner owner_for(std::string_view self) const noexcept {
        return owner.empty() || owner == self ? RetryOwner::here : RetryOwner::outer;
    }
};

/// The values of the headers. What is read comes from outside: it is bounded, and anything but
/// the exact form is an Error (`rejected`).
inline constexpr std::uint32_t attempt_number_max = 1'000'000;
inline constexpr Duration remaining_max = std::chrono::hours(24 * 365);
inline constexpr std::size_t owner_size_max = 64;

/// The deadline as the milliseconds that remain, never as a point in time: clocks differ. Rounds
/// down, so that the receiver gives up first; longer than `remaining_max` is cut to that.
[[nodiscard]] std::string format_remaining(Duration remaining);
[[nodiscard]] Result<Duration> parse_remaining(std::string_view value);

[[nodiscard]] std::string format_attempt(std::uint32_t attempt);
/// From 1 to `attempt_number_max`.
[[nodiscard]] Result<std::uint32_t> parse_attempt(std::string_view value);

/// A name of letters, digits, `.`, `_` and `-`, up to `owner_size_max` long.
[[nodiscard]] Result<std::string> parse_owner(std::string_view value);

}  // namespace semel
