#pragma once

#include "semel/db/rows.hpp"
#include "semel/postgres/handles.hpp"

#include <string_view>

namespace semel::postgres {

/// Copies an answer out of libpq: texts as they came, bytea as bytes.
[[nodiscard]] Rows rows_from(const PGresult* result);

/// One field as text; empty for NULL and for a row that is not there.
[[nodiscard]] std::string_view field_of(const PGresult* result, int column, int row = 0) noexcept;

/// Whether the answer says that the statement ran.
[[nodiscard]] bool succeeded(const PGresult* result) noexcept;

}  // namespace semel::postgres
