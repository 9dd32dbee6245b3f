#pragma once

#include "semel/db/database.hpp"
#include "semel/db/migration.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

/// One component's schema as found and as it should be.
struct SchemaState {
    int at = 0;                        ///< Number of the last step applied; 0: none.
    std::vector<std::string> applied;  ///< Steps applied by this call, "0001 foundation".
    std::vector<std::string> pending;  ///< Steps not applied yet.
};

/// Applies every step that is not applied yet, in order, each in its own transaction, so that a
/// crash leaves whole steps behind and the next call goes on. Callers at the same time wait for one
/// another. Refuses, changing nothing: a step whose text differs from what was applied under its
/// number, and a schema that is newer than this program.
[[nodiscard]] Result<SchemaState> migrate(Database& database, std::string_view component,
                                          std::span<const Migration> steps, Deadline deadline);

/// What `migrate` would do. Changes nothing.
[[nodiscard]] Result<SchemaState> schema_state(Database& database, std::string_view component,
                                               std::span<const Migration> steps, Deadline deadline);

}  // namespace semel
