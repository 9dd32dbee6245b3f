#pragma once

#include "semel/base/result.hpp"
#include "semel/postgres/handles.hpp"
#include "semel/retry/rule.hpp"

#include <span>
#include <string_view>

namespace semel::postgres {

/// What each SQLSTATE means, by phase. The only place that decides it.
[[nodiscard]] std::span<const Rule> postgres_rules() noexcept;

/// The failure that a server reported: Fault by the table, our message without user data, the
/// server's own text in `native`, SQLSTATE, constraint, kind of timeout and a hint in `cause`.
///
/// In the commit phase only a plain ERROR of a server's is an answer to COMMIT. What ends the
/// connection (FATAL, PANIC) or was made up by a proxy on the way is `unknown`, whatever its code.
[[nodiscard]] Error error_from(const PGresult* result, Phase phase);

/// The same for a SQLSTATE that came without a result: a refused connection, a FATAL while idle.
[[nodiscard]] Error error_from_code(std::string_view sqlstate, std::string_view native, Phase phase);

/// The connection ended and nobody said why.
[[nodiscard]] Error lost_connection(std::string_view native, Phase phase);

/// Whether the server itself answered with an ordinary error, so that it goes on listening.
[[nodiscard]] bool is_plain_error(const PGresult* result) noexcept;

/// Whether a session that met this SQLSTATE is of no more use.
[[nodiscard]] bool closes_session(std::string_view sqlstate) noexcept;

/// The SQLSTATE of an error result; empty where there is none.
[[nodiscard]] std::string_view sqlstate_of(const PGresult* result) noexcept;

}  // namespace semel::postgres
