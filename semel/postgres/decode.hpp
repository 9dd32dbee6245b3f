#pragma once

#include "semel/db/rows.hpp"
#include "semel/postgres/handles.hpp"

#include <string_view>

namespace semel::postgres {

/// Copies an answer out of libpq: bytea as bytes, whole numbers and booleans as numbers, all else as text. It comes out
/// the same whether the answer came in text or in binary.
[[nodiscard]] Rows rows_from(const PGresult* result);

/// Whether every column is of a type that `rows_from` reads in binary too.
[[nodiscard]] bool readable_in_binary(const PGresult* result) noexcept;

/// One field as text; empty for NULL and for a row that is not there.
[[nodiscard]] std::string_view field_of(const PGresult* result, int column, int row = 0) noexcept;

/// Whether the answer says that the statement ran.
[[nodiscard]] bool succeeded(const PGresult* result) noexcept;

}  // namespace semel::postgres
