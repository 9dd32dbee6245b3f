#pragma once

#include "semel/db/catalogue.hpp"

namespace semel::cdc {

/// The statements of sql/, embedded: those that only PostgreSQL has, and that no other driver need have.
[[nodiscard]] Catalogue catalogue() noexcept;

}  // namespace semel::cdc
