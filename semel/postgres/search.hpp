#pragma once

#include "semel/postgres/connect.hpp"

#include <functional>

namespace semel::postgres {

/// Takes a connection that was just made to `endpoint`, or says what speaks against that server. `until` is the end of
/// this server's share of the time.
using Accept = std::function<Status(ConnectionHandle connection, const Endpoint& endpoint, Deadline until)>;

/// Looks the names up and tries every address of every host in turn, each with its share of the time, until one is
/// accepted. Any fault but `unavailable` ends it at once; otherwise the Error tells what each address had to say.
[[nodiscard]] Status search_server(const ConnectionString& target, const ConnectOptions& options, const Accept& accept,
                                   Clock& clock, Deadline deadline);

/// A bare connection to the first server that answers, for what sessions are not made for: listening, replication.
[[nodiscard]] Result<ConnectionHandle> reach_server(const ConnectionString& target, const ConnectOptions& options,
                                                    Clock& clock, Deadline deadline);

}  // namespace semel::postgres
