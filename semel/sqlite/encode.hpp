#pragma once

#include "semel/base/result.hpp"
#include "semel/db/rows.hpp"
#include "semel/db/value.hpp"

#include <span>

struct sqlite3_stmt;

namespace semel::sqlite {

struct Prepared;

/// Binds each value to the places of its number, in the encodings that value.hpp names. Texts and
/// bytes are borrowed: the bindings must be cleared before the values go. Refuses what PostgreSQL
/// would refuse too (another count of values, a NUL in a text) and a NaN, which SQLite would
/// turn into NULL.
[[nodiscard]] Status bind_values(const Prepared& prepared, std::span<const Parameter> values);

/// Adds the columns of what the statement returns.
void add_columns(sqlite3_stmt* statement, Rows& rows);
/// Adds the row on which the statement stands.
void add_row(sqlite3_stmt* statement, Rows& rows);

}  // namespace semel::sqlite
