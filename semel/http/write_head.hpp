#pragma once

#include "semel/http/message.hpp"

#include <string>
#include <string_view>

namespace semel::http {

/// What the server adds to an answer.
struct Closing {
    bool keep_alive = true;
    bool http11 = true;              ///< What the request spoke: HTTP/1.0 must be told that the connection stays.
    std::string_view date{};         ///< The value of the Date field; empty: none.
    std::string_view correlation{};  ///< The value of X-Correlation-Id; empty: none.
};

/// "Not Found"; empty for a status without a usual phrase.
[[nodiscard]] std::string_view reason_phrase(unsigned status) noexcept;

/// Whether the answer can be sent: a final status with three digits, and fields that cannot be taken
/// for several.
[[nodiscard]] bool is_sendable(const Response& response) noexcept;

/// Appends status line, fields and the empty line. Statuses without a body get no Content-Length.
void write_response_head(std::string& out, const Response& response, const Closing& closing);

/// Appends request line, fields and the empty line; Host and Content-Length are the caller's to set.
void write_request_head(std::string& out, std::string_view method, std::string_view target, const Headers& headers);

}  // namespace semel::http
