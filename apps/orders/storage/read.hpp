#pragma once

#include "semel/db/database.hpp"

#include <array>

namespace orders {

/// Runs one SELECT by itself, outside any transaction: one round trip, repeated while the database is away and the
/// deadline allows.
[[nodiscard]] semel::Result<semel::Rows> read_rows(semel::Database& database, semel::Deadline deadline,
                                                   const semel::Statement& statement);

template <class... Values>
[[nodiscard]] semel::Result<semel::Rows> read(semel::Database& database, semel::Deadline deadline, semel::Sql sql,
                                              const Values&... values) {
    const std::array<semel::Parameter, sizeof...(Values)> parameters{semel::parameter(values)...};
    return read_rows(database, deadline, {.sql = sql, .parameters = parameters, .expected_rows = std::nullopt});
}

/// A part of a collection, in the order of ids: what comes behind `after`, at most `limit`.
struct Slice {
    semel::Uuid after{};  ///< The smallest id there is: from the beginning.
    std::int64_t limit = 0;
};

}  // namespace orders
