#pragma once

#include "semel/base/result.hpp"
#include "semel/postgres/connection_string.hpp"
#include "semel/postgres/handles.hpp"
#include "semel/retry/deadline.hpp"

#include <string>
#include <string_view>

namespace semel::postgres {

/// One address to connect to.
struct Endpoint {
    std::string name;     ///< Kept for TLS verification and messages; a path is a Unix socket.
    std::string address;  ///< Numeric; empty for a Unix socket.
    std::string port;

    /// For messages: "db.example:5432".
    [[nodiscard]] std::string text() const;
};

/// Connects to one address without ever blocking past the deadline. Each way to fail has its own
/// message: nothing listens; no answer to the connection attempt; accepted but not answered;
/// TLS; wrong password; missing database; starting up; too many connections.
[[nodiscard]] Result<ConnectionHandle> connect_to(const ConnectionString& target, const Endpoint& endpoint,
                                                  const ConnectOptions& options, Deadline deadline, Clock& clock);

/// The SQLSTATE in libpq's verbose text of a refused connection; empty if the server did not get
/// to say one.
[[nodiscard]] std::string_view sqlstate_in(std::string_view verbose_text) noexcept;

}  // namespace semel::postgres
