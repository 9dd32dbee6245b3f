#pragma once

#include "semel/base/result.hpp"
#include "semel/retry/phase.hpp"

#include <string>
#include <string_view>

struct sqlite3;

namespace semel::sqlite {

/// What SQLite said, taken down before the next call overwrites it.
struct Said {
    int code = 0;      ///< Extended result code.
    std::string text;  ///< Its message; may hold user data.
};

[[nodiscard]] Said said_by(sqlite3* database, int code);

/// The Error of what was said: Fault by the table, a message that may be shown, a hint for a
/// person. `database` is asked for the name of a violated constraint.
[[nodiscard]] Error failure(sqlite3* database, const Said& said, Phase phase);

// Failures of our own making. Each says that nothing was done.
[[nodiscard]] Error deadline_passed(std::string_view before_what);
[[nodiscard]] Error statement_cancelled(bool by_deadline);
[[nodiscard]] Error wrong_row_count(std::int64_t expected, std::int64_t changed);
[[nodiscard]] Error read_only_transaction();
[[nodiscard]] Error open_foreign_key();

}  // namespace semel::sqlite
