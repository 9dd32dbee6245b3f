#pragma once

#include "semel/retry/phase.hpp"
#include "semel/retry/rule.hpp"

#include <span>

namespace semel::mariadb {

/// What the error numbers of MariaDB and MySQL mean; those from 2000 to 2999 are the client
/// library's own.
[[nodiscard]] std::span<const Rule> mariadb_rules() noexcept;

/// Zero is a failure without any number.
[[nodiscard]] Fault classify(unsigned error_number, Phase phase) noexcept;

/// Whether the server rolled back the failed statement alone and left the transaction open. It
/// must be rolled back before the rerun, or the rerun would continue it.
[[nodiscard]] constexpr bool leaves_transaction_open(unsigned error_number) noexcept { return error_number == 1205; }

}  // namespace semel::mariadb
