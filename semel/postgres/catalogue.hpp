#pragma once

#include "semel/db/catalogue.hpp"

namespace semel::postgres {

/// The statements that Semel's modules use on this database, from sql/, embedded when it was built.
[[nodiscard]] Catalogue catalogue() noexcept;

}  // namespace semel::postgres
