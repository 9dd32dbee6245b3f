#include "semel/postgres/failure_table.hpp"

#include <libpq-fe.h>

#include <array>
#include <string>

namespace semel::postgres {

void FinishConnection::operator()(PGconn* connection) const noexcept { PQfinish(connection); }
void ClearResult::operator()(PGresult* result) const noexcept { PQclear(result); }

namespace {

constexpr Fault rejected = Fault::rejected;
constexpr Fault conflict = Fault::conflict;
constexpr Fault away = Fault::unavailable;
constexpr Fault throttled = Fault::throttled;
constexpr Fault unknown = Fault::unknown;
constexpr Fault broken = Fault::broken;

constexpr std::array rules{
    // Rerun the whole transaction.
    Rule{"40001", "serialization_failure", conflict, conflict, conflict, false,
         "Another transaction won; the server rolled this one back."},
    Rule{"40P01", "deadlock_detected", conflict, conflict, conflict, false,
         "The server broke a deadlock by rolling this transaction back."},
    Rule{"40000", "transaction_rollback", conflict, conflict, conflict, false,
         "The server rolled the transaction back."},
    Rule{"SM006", "unexpected_row_count", conflict, conflict, conflict, false,
         "A statement changed another number of rows than it declared: someone else was faster."},
    // Verdicts of a claim: the layers above act on them.
    Rule{"SM001", "in_progress", rejected, rejected, rejected, false, "A command with the same key is being executed."},
    Rule{"SM002", "done", rejected, rejected, rejected, false, "The command was executed before; its reply is stored."},
    Rule{"SM003", "mismatch", rejected, rejected, rejected, false, "The key was used before with another request."},
    Rule{"SM004", "expired", rejected, rejected, rejected, false,
         "The key was used before; its reply is no longer kept."},
    Rule{"SM005", "needs_reconciliation", rejected, rejected, rejected, false,
         "The command has effects outside whose outcome a person must settle."},
    Rule{"SM007", "fence_lost", rejected, rejected, rejected, false,
         "The lease of the command was taken over by someone else."},
    // Retry after a while.
    Rule{"55P03", "lock_not_available", away, away, away, false, "The lock was not granted in time."},
    Rule{"55006", "object_in_use", away, away, away, false, "Someone else is using it at the moment."},
    Rule{"53300", "too_many_connections", away, away, away, true, "The server has no connection left."},
    Rule{"57P03", "cannot_connect_now", away, away, away, true, "The server is starting up or shutting down."},
    Rule{"08001", "sqlclient_unable_to_establish_sqlconnection", away, away, unknown, true,
         "No connection came about."},
    Rule{"08004", "sqlserver_rejected_establishment_of_sqlconnection", away, away, unknown, true,
         "The server did not take the connection."},
    // The connection is gone; what was open is rolled back, what was being committed is unknown.
    Rule{"08000", "connection_exception", away, away, unknown, true, "The connection failed."},
    Rule{"08003", "connection_does_not_exist", away, away, unknown, true, "The connection is gone."},
    Rule{"08006", "connection_failure", away, away, unknown, true, "The connection failed."},
    Rule{"57P01", "admin_shutdown", away, away, unknown, true, "An operator ended the session, or the server stops."},
    Rule{"57P02", "crash_shutdown", away, away, unknown, true,
         "Another server process crashed; all sessions were ended."},
    Rule{"57P05", "idle_session_timeout", away, away, unknown, true,
         "The server ended a session that was idle for too long."},
    Rule{"25P03", "idle_in_transaction_session_timeout", away, away, unknown, true,
         "The server ended a transaction whose client was silent for too long."},
    Rule{"25006", "read_only_sql_transaction", away, away, away, true,
         "The server takes no writes: after a failover the primary is another one."},
    // Never known from the code alone.
    Rule{"40003", "statement_completion_unknown", unknown, unknown, unknown, true,
         "The server itself cannot tell whether it was done."},
    Rule{"08007", "transaction_resolution_unknown", unknown, unknown, unknown, true,
         "The server itself cannot tell whether the transaction committed."},
    // Capacity: retrying soon makes it worse.
    Rule{"53000", "insufficient_resources", throttled, throttled, throttled, false, "The server lacks resources."},
    Rule{"53100", "disk_full", throttled, throttled, throttled, false, "The server's disk is full."},
    Rule{"53200", "out_of_memory", throttled, throttled, throttled, false,
         "The server, or its lock table, is out of memory."},
    Rule{"53400", "configuration_limit_exceeded", throttled, throttled, throttled, false,
         "A limit of the server's configuration was reached."},
    Rule{"58000", "system_error", throttled, throttled, throttled, false, "The server's operating system failed."},
    Rule{"58030", "io_error", throttled, throttled, throttled, false, "The server could not read or write a file."},
    // Our own limit or an operator's cancel: repeating would only take as long again.
    Rule{"57014", "query_canceled", rejected, rejected, rejected, false,
         "The statement was cancelled, by its time limit or by an operator."},
    Rule{"57P04", "database_dropped", rejected, rejected, rejected, true, "The database was dropped."},
    // Rejected, with a meaning that layers above map.
    Rule{"23505", "unique_violation", rejected, rejected, rejected, false, "A row with this key is there already."},
    Rule{"23P01", "exclusion_violation", rejected, rejected, rejected, false,
         "A row that excludes this one is there already."},
    Rule{"26000", "invalid_sql_statement_name", rejected, rejected, rejected, false,
         "No such prepared statement. On one of the driver's own: conflict, and no more names on that session."},
    Rule{"42P05", "duplicate_prepared_statement", rejected, rejected, rejected, false,
         "The prepared statement exists already. On one of the driver's own: conflict, and no more names on that "
         "session."},
    // Never: the same input fails again.
    Rule{"08P01", "protocol_violation", rejected, rejected, rejected, true,
         "The two sides do not understand each other."},
    Rule{"0A*", "feature_not_supported", rejected, rejected, rejected, false, "The server does not support this."},
    Rule{"22*", "data_exception", rejected, rejected, rejected, false, "A value does not fit."},
    Rule{"23*", "integrity_constraint_violation", rejected, rejected, rejected, false,
         "A constraint does not allow this row."},
    Rule{"28*", "invalid_authorization_specification", rejected, rejected, rejected, true,
         "The server does not accept this user or password."},
    Rule{"3D000", "invalid_catalog_name", rejected, rejected, rejected, true, "There is no such database."},
    Rule{"3F000", "invalid_schema_name", rejected, rejected, rejected, false, "There is no such schema."},
    Rule{"42*", "syntax_error_or_access_rule_violation", rejected, rejected, rejected, false,
         "The statement is wrong, or not permitted."},
    Rule{"XX*", "internal_error", broken, broken, broken, false, "The server found a bug or damaged data."},
};
static_assert(well_formed(rules));

struct Hint {
    std::string_view code;
    std::string_view text;
};
constexpr std::array hints{
    Hint{"28P01", "check user and password in the connection string"},
    Hint{"28000", "check the user, and pg_hba.conf on the server"},
    Hint{"3D000", "create the database, or correct its name in the connection string"},
    Hint{"3F000", "run `semel migrate`"},
    Hint{"42P01", "run `semel migrate` if the table is one of semel's"},
    Hint{"42883", "run `semel migrate` if the function is one of semel's"},
    Hint{"42501", "grant the role what it needs"},
    Hint{"53100", "free disk space on the database server"},
    Hint{"53200", "raise max_locks_per_transaction or the server's memory"},
    Hint{"53300", "lower the pool's size or raise max_connections"},
    Hint{"57P03", "wait until the server has started"},
    Hint{"25006", "name every server in the connection string, so that the primary can be found"},
    Hint{"26000", "set prepare to unnamed behind a connection pooler"},
    Hint{"42P05", "set prepare to unnamed behind a connection pooler"},
    Hint{"55P03", "look for the transaction that holds the lock"},
};

Timeout timeout_of(std::string_view sqlstate) noexcept {
    if (sqlstate == "55P03") return Timeout::lock;
    if (sqlstate == "57014") return Timeout::statement;
    if (sqlstate == "25P03") return Timeout::transaction;
    return Timeout::none;
}

std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    return text;
}

std::string_view field(const PGresult* result, int code) noexcept {
    const char* text = PQresultErrorField(result, code);
    return text != nullptr ? std::string_view(text) : std::string_view();
}

}  // namespace

std::span<const Rule> postgres_rules() noexcept { return rules; }

std::string_view sqlstate_of(const PGresult* result) noexcept { return field(result, PG_DIAG_SQLSTATE); }

bool is_plain_error(const PGresult* result) noexcept {
    // Servers since 9.6 send the untranslated severity; pgbouncer's own errors lack it.
    return field(result, PG_DIAG_SEVERITY_NONLOCALIZED) == "ERROR";
}

bool closes_session(std::string_view sqlstate) noexcept {
    if (sqlstate.empty()) return true;
    const Rule* rule = find(rules, sqlstate);
    return rule != nullptr && rule->closes_session;
}

Error error_from_code(std::string_view sqlstate, std::string_view native, Phase phase) {
    if (sqlstate.empty()) return lost_connection(native, phase);
    const Rule* rule = find(rules, sqlstate);
    Error error;
    error.fault = classify(rules, sqlstate, phase);
    error.message = "the server answered ";
    error.message.append(rule != nullptr ? rule->name : std::string_view("an error"))
        .append(" (")
        .append(sqlstate)
        .append(")");
    error.native = trimmed(native);
    error.cause.code = sqlstate;
    error.cause.timeout = timeout_of(sqlstate);
    for (const Hint& hint : hints) {
        if (hint.code == sqlstate) error.cause.hint = hint.text;
    }
    return error;
}

Error error_from(const PGresult* result, Phase phase) {
    Error error = error_from_code(sqlstate_of(result), PQresultErrorMessage(result), phase);
    error.cause.constraint = field(result, PG_DIAG_CONSTRAINT_NAME);
    if (error.cause.code.empty() || is_plain_error(result)) return error;
    if (phase == Phase::commit) {
        error.fault = Fault::unknown;
    } else if (error.cause.code == "08P01") {
        // With this code a pooler reports that it lost the server.
        error.fault = Fault::unavailable;
        error.message = "the connection pooler gave up the connection (08P01)";
    }
    return error;
}

Error lost_connection(std::string_view native, Phase phase) {
    Error error;
    error.fault = unanswered(phase);
    error.message = phase == Phase::commit ? "the connection was lost before COMMIT was answered"
                                           : "the connection to the server was lost";
    error.native = trimmed(native);
    return error;
}

}  // namespace semel::postgres
