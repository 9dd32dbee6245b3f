#pragma once

#include "semel/base/time.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem_codes.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace semel::http {

/// What went wrong, as RFC 9457 has it: `application/problem+json` with the members type, title,
/// status, detail, code and correlationId, then the extensions in their order.
struct Problem {
    using Value = std::variant<std::string, std::int64_t, bool>;

    unsigned status = 500;
    std::string code{};    ///< One of problem_codes.hpp, or the application's own.
    std::string title{};   ///< The same for every problem of that code.
    std::string detail{};  ///< What happened here, what was and was not done, what to do. Shown to clients.
    std::vector<std::pair<std::string, Value>> extensions{};
    std::optional<Duration> retry_after{};  ///< Rounded up to whole seconds.
    Headers headers{};                      ///< Beside Content-Type and Retry-After.

    Problem() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): a kind alone is a problem.
    Problem(const ProblemKind& kind, std::string detail_text = {})
        : status(kind.status), code(kind.code), title(kind.title), detail(std::move(detail_text)) {}

    /// The same kind of problem with another status.
    [[nodiscard]] Problem with_status(unsigned other) &&;
    [[nodiscard]] Problem with_retry_after(Duration wait) &&;
    [[nodiscard]] Problem with(std::string name, Value value) &&;
    [[nodiscard]] Problem with_header(std::string name, std::string value) &&;

    /// Text that is not valid UTF-8 is written with replacement characters, never refused.
    [[nodiscard]] Response to_response(std::string_view correlation_id) const;
};

/// "3": the value of a Retry-After field, at least one second.
[[nodiscard]] std::string format_retry_after(Duration wait);

}  // namespace semel::http
