#pragma once

#include "semel/base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace semel {

/// Which stored events are meant. What is not given matches everything.
struct EventFilter {
    std::optional<std::string> type{};
    std::optional<Timestamp> since{};  ///< Created at or after.
    std::optional<Timestamp> until{};  ///< Created before.
    std::optional<std::string> tenant{};
    std::optional<std::string> aggregate_type{};
    std::optional<std::string> aggregate_id{};
    std::size_t limit = 1000;  ///< The first so many.
};

/// How statements take a time: microseconds since 1970.
[[nodiscard]] inline std::optional<std::int64_t> microseconds_of(const std::optional<Timestamp>& time) {
    if (!time) return std::nullopt;
    return time->time_since_epoch().count();
}

}  // namespace semel
