#pragma once

#include "semel/db/migration.hpp"

#include <span>

namespace semel::postgres {

/// Semel's schema on PostgreSQL, from migrations/, embedded when it was built.
[[nodiscard]] std::span<const Migration> migrations() noexcept;

}  // namespace semel::postgres
