#pragma once

#include "semel/open/open.hpp"

#include <chrono>
#include <string>

namespace semel::app {

/// Longest single thing that a verb asks of the store.
inline constexpr Duration store_limit = std::chrono::minutes(1);

/// The store at an address, for verbs that change nothing of its schema. An Error (`rejected`) if the schema is not the
/// one of this program, with what to do about it.
[[nodiscard]] Result<OpenedDatabase> open_current(const std::string& address);

[[nodiscard]] inline Deadline soon(Database& database) { return Deadline::after(database.clock().now(), store_limit); }

}  // namespace semel::app
