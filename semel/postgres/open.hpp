#pragma once

#include "semel/db/pool.hpp"
#include "semel/postgres/connection_string.hpp"

namespace semel::postgres {

/// Checks the connection string now, so that a malformed one is found where it is written.
///
/// Each call looks the names up, tries every address of every host in turn, each with its share of
/// the time, and stops at the first server that fits the target. Wrong credentials end it at once;
/// otherwise the Error tells what each address had to say.
[[nodiscard]] Result<Connect> connector(ConnectOptions options, Clock& clock = system_clock());

}  // namespace semel::postgres
