#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <string>
#include <string_view>

namespace semel::app {

/// "90s", "15m", "12h", "7d". An Error (`rejected`) says how it is written.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);
/// A point in time: "2026-01-31T23:59:59Z", or how long ago: "2h".
[[nodiscard]] Result<Timestamp> parse_moment(std::string_view text, Timestamp now);
/// For people: "850ms", "12s", "3m 20s", "2h 5m", "8d 3h".
[[nodiscard]] std::string duration_text(Duration length);

}  // namespace semel::app
