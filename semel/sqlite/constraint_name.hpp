#pragma once

#include <string>
#include <string_view>

struct sqlite3;

namespace semel::sqlite {

/// The name that PostgreSQL would give for the same violation, from what SQLite said about it:
/// the index's own name, `<table>_pkey`, `<table>_<columns>_key` or the CHECK's name. Empty where
/// there is none to tell (a foreign key, a NOT NULL). Asks the schema, so the failed statement
/// must have been reset. SQLite does not keep the name of `CONSTRAINT name UNIQUE (…)` inside a
/// table: use CREATE UNIQUE INDEX to choose one.
[[nodiscard]] std::string constraint_name(sqlite3* database, int extended_code, std::string_view said);

}  // namespace semel::sqlite
