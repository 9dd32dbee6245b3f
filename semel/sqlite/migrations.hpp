#pragma once

#include "semel/db/migration.hpp"

#include <span>

namespace semel::sqlite {

/// Semel's schema in SQLite, from migrations/, embedded when it was built. What PostgreSQL needs
/// functions for, such as an expected row count, this driver does itself.
[[nodiscard]] std::span<const Migration> migrations() noexcept;

}  // namespace semel::sqlite
