#pragma once

#include "semel/db/session.hpp"
#include "semel/postgres/handles.hpp"

#include <string>
#include <string_view>

namespace semel::postgres {

/// Which history of which server one is talking to, and since when without a crash.
struct Identity {
    std::string history;      ///< System identifier and timeline; empty in recovery or where not permitted.
    std::string incarnation;  ///< When the server's statistics were last discarded: at every crash.

    [[nodiscard]] bool known() const noexcept { return !history.empty() && !incarnation.empty(); }
    /// From two columns of `identity_sql` or `pooled_mark_sql`, starting at `column`.
    [[nodiscard]] static Identity from(const PGresult* result, int column);
};

/// Asked once per connection: history, incarnation, when this server process started. An ordinary
/// role may ask all of it on PostgreSQL 14 to 17 unless someone revoked it; then nothing can be
/// resolved on this server.
///
/// A number of seconds, not a text of a timestamp, because that depends on the session's time zone.
inline constexpr const char* identity_sql =
    "SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || "
    "CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END, "
    "(SELECT extract(epoch FROM stats_reset) FROM pg_stat_wal), "
    "(SELECT extract(epoch FROM backend_start) FROM pg_stat_get_activity(pg_backend_pid()))";

/// The number of the running transaction, NULL while it has written nothing. On a connection of
/// our own the rest of the mark is known from `identity_sql`.
inline constexpr std::string_view mark_sql = "SELECT pg_current_xact_id_if_assigned()";

/// Behind a pooler, where each transaction may run on another server.
inline constexpr std::string_view pooled_mark_sql =
    "SELECT pg_current_xact_id_if_assigned(), "
    "(SELECT system_identifier FROM pg_control_system()) || '/' || "
    "CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END, "
    "(SELECT extract(epoch FROM stats_reset) FROM pg_stat_wal)";

}  // namespace semel::postgres
