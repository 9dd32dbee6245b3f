#pragma once

#include "semel/db/migration.hpp"
#include "semel/db/session.hpp"

#include <span>

namespace orders {

/// The steps of this service's own schema, beside Semel's: component "orders".
[[nodiscard]] std::span<const semel::Migration> schema(semel::Dialect dialect) noexcept;

}  // namespace orders
