#pragma once

#include "semel/db/migration.hpp"

#include <span>

namespace semel::sqlite {

/// The steps of Semel's schema in SQLite. None yet: what PostgreSQL needs functions for, such as
/// an expected row count, this driver does itself.
[[nodiscard]] inline std::span<const Migration> migrations() noexcept { return {}; }

}  // namespace semel::sqlite
