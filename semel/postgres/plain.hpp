#pragma once

#include "semel/base/result.hpp"
#include "semel/postgres/handles.hpp"
#include "semel/retry/deadline.hpp"

namespace semel::postgres {

/// One statement by the simple protocol on a bare connection, never waiting past the deadline. The last answer; an Error
/// if the server refused it, the connection is gone or the time is up, after which the connection is to be closed.
[[nodiscard]] Result<ResultHandle> run_plain(PGconn* connection, const char* sql, Clock& clock, Deadline deadline);

/// Waits until the connection has something to read, `wake` (an eventfd; -1 for none) was written to, or the deadline.
/// False only if the connection has nothing to read.
[[nodiscard]] bool readable(PGconn* connection, int wake, Clock& clock, Deadline deadline);

}  // namespace semel::postgres
