#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <chrono>
#include <string_view>

namespace semel {

/// Whoever asks for more than a year means never; it is read as a year.
inline constexpr Duration retry_after_max = std::chrono::hours(24 * 365);

/// How long a `Retry-After` header (RFC 9110, 10.2.3) asks to wait: either seconds, or a date in
/// any of the three forms that HTTP has had, taken against the calendar of `now`. A date in the
/// past is zero. Anything else is an Error (`rejected`).
[[nodiscard]] Result<Duration> parse_retry_after(std::string_view value, Timestamp now);

}  // namespace semel
