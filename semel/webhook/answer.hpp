#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <optional>
#include <string_view>

namespace semel::webhook {

/// What a receiver answered to one event.
struct Answer {
    long status = 0;
    std::string_view retry_after{};  ///< The header, as it came.
    std::string_view location{};     ///< Of a redirect.
    std::string_view body{};         ///< Its beginning, for people.
};

/// What can be concluded: 2xx it has the event; 429, and 503 that says when, `throttled`; 408, 425 and 5xx
/// `unavailable`; a redirect, 410 and every other refusal `rejected`.
[[nodiscard]] Status judge(const Answer& answer, Timestamp now);

/// How long to wait by a Retry-After header: seconds, or a date. Never negative, never more than a day, so that
/// nobody can silence a relay for good; nothing if it is neither.
[[nodiscard]] std::optional<Duration> parse_retry_after(std::string_view text, Timestamp now);

}  // namespace semel::webhook
