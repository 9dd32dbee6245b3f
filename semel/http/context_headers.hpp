#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/http/message.hpp"
#include "semel/retry/owner.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace semel::http {

/// What travels beside a request from layer to layer. The deadline as the milliseconds that remain,
/// which attempt of its owner this is, and who owns the retries.
inline constexpr std::string_view deadline_header = "X-Deadline-Remaining-Ms";
inline constexpr std::string_view attempt_header = "X-Attempt";
inline constexpr std::string_view retry_owner_header = "X-Retry-Owner";
inline constexpr std::string_view correlation_header = "X-Correlation-Id";
/// Of W3C Trace Context; passed on as it came.
inline constexpr std::string_view trace_header = "traceparent";

inline constexpr std::size_t correlation_size_max = 128;

/// Reads the retry context. What is absent keeps its default, and the deadline is then never. A
/// malformed or repeated field is an Error (`rejected`): a deadline misread is worse than none.
[[nodiscard]] Result<RetryContext> read_context(const Headers& headers, Instant now);
/// Writes it for the next layer, with what remains of the deadline now.
void write_context(Headers& headers, const RetryContext& context, Instant now);

/// The request's own correlation id if it is up to `correlation_size_max` letters, digits and
/// `-_.:/+=@`, given once; else a fresh UUIDv7. It ends up in logs, so nothing else may pass.
[[nodiscard]] std::string correlation_id(const Headers& headers);

}  // namespace semel::http
