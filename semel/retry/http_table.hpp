#pragma once

#include "semel/retry/phase.hpp"
#include "semel/retry/rule.hpp"

#include <span>
#include <string>
#include <string_view>

namespace semel {

/// What an HTTP answer that is not a success means. `connect`: no byte of the request was sent (a
/// proxy refused the tunnel). Both other phases: it was sent, and HTTP has no transaction that
/// would undo it.
[[nodiscard]] std::span<const Rule> http_rules() noexcept;

/// What stands beside the status and changes its meaning.
enum class HttpSign : unsigned char {
    none,
    retry_after,  ///< A `Retry-After` header.
    in_flight,    ///< The other side's idempotency layer says that the same key is being executed.
};

/// The code of a status as the table writes it: "503", "503 Retry-After".
[[nodiscard]] std::string http_code(int status, HttpSign sign = HttpSign::none);
[[nodiscard]] Fault classify_http(int status, HttpSign sign, Phase phase) noexcept;

/// The peer's assurance that it did not process a stream of HTTP/2 or HTTP/3.
inline constexpr std::string_view http_refused_stream = "REFUSED_STREAM";

}  // namespace semel
