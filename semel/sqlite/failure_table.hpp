#pragma once

#include "semel/retry/rule.hpp"

#include <span>

namespace semel::sqlite {

/// What each SQLite result code means, extended codes included. COMMIT has run on our own machine,
/// so most of its failures are definite; those that may have reached the file are *unknown*.
[[nodiscard]] std::span<const Rule> sqlite_rules() noexcept;

/// The row of an extended code: its own, else that of its primary code; null for an unknown one.
[[nodiscard]] const Rule* rule_of(int extended_code) noexcept;

/// The Fault of an extended code. A code that nobody knows is a bug until someone has looked at it.
[[nodiscard]] Fault fault_of(int extended_code, Phase phase) noexcept;

}  // namespace semel::sqlite
