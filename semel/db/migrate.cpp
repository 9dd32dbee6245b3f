#include "semel/db/migrate.hpp"

#include "semel/base/digest.hpp"
#include "semel/base/failpoint.hpp"
#include "semel/base/mutant.hpp"
#include "semel/db/transact.hpp"

#include <fmt/format.h>

namespace semel {
namespace {

/// The bookkeeping in each dialect. It lives outside the numbered steps because it records them.
struct Bookkeeping {
    std::string_view create;
    Sql exists;
    Sql applied;
    Sql record;
};

constexpr Bookkeeping postgres_bookkeeping{
    .create =
        "CREATE SCHEMA IF NOT EXISTS semel;"
        "CREATE TABLE IF NOT EXISTS semel.schema_step ("
        "  component text NOT NULL,"
        "  number integer NOT NULL,"
        "  name text NOT NULL,"
        "  checksum text NOT NULL,"
        "  applied_at timestamptz NOT NULL DEFAULT now(),"
        "  PRIMARY KEY (component, number));",
    .exists = "SELECT to_regclass('semel.schema_step') IS NOT NULL",
    .applied = "SELECT number, name, checksum FROM semel.schema_step WHERE component = $1 ORDER BY number",
    .record = "INSERT INTO semel.schema_step (component, number, name, checksum) VALUES ($1, $2, $3, $4)",
};

constexpr Bookkeeping sqlite_bookkeeping{
    .create =
        "CREATE TABLE IF NOT EXISTS semel_schema_step ("
        "  component TEXT NOT NULL,"
        "  number INTEGER NOT NULL,"
        "  name TEXT NOT NULL,"
        "  checksum TEXT NOT NULL,"
        "  applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),"
        "  PRIMARY KEY (component, number)) STRICT;",
    .exists = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'semel_schema_step')",
    .applied = "SELECT number, name, checksum FROM semel_schema_step WHERE component = $1 ORDER BY number",
    .record = "INSERT INTO semel_schema_step (component, number, name, checksum) VALUES ($1, $2, $3, $4)",
};

const Bookkeeping& bookkeeping(Dialect dialect) {
    SEMEL_ASSERT(dialect != Dialect::mariadb && "MariaDB has no session driver yet");
    return dialect == Dialect::postgres ? postgres_bookkeeping : sqlite_bookkeeping;
}

std::string label(const Migration& step) { return fmt::format("{:04} {}", step.number, step.name); }

/// The step; with one planted bug, the claim's guard looks with the snapshot of the statement that calls it.
std::string planted(std::string_view sql) {
    std::string text(sql);
    if (!SEMEL_MUTANT("lock_and_lookup_in_one_statement")) return text;
    const std::size_t guard = text.find("CREATE FUNCTION semel.claim_guard");
    constexpr std::string_view right = "VOLATILE";
    if (guard != std::string::npos) text.replace(text.find(right, guard), right.size(), "STABLE");
    return text;
}

std::string checksum(const Migration& step) { return hex(sha256(bytes_of(step.sql))); }

/// One schema change at a time per database. The number is 64 bits of SHA-256("semel lock: migrate").
constexpr std::int64_t migrate_lock = 0x3f1c5a90b26e74d1;

/// How many steps are applied, once each has been found to be what this program would apply.
Result<std::size_t> count_applied(Transaction& tx, std::string_view component, std::span<const Migration> steps) {
    const Bookkeeping& sql = bookkeeping(tx.dialect());
    const auto exists = SEMEL_TRY(tx.execute(sql.exists));
    if (!SEMEL_TRY(exists.scalar<bool>())) return 0;
    const auto rows = SEMEL_TRY(tx.execute(sql.applied, component));
    if (rows.size() > steps.size())
        return fail(Fault::rejected,
                    fmt::format("the schema of {} is at step {}, newer than this program, which knows {}; nothing was "
                                "changed; use a program at least as new as the schema",
                                component, rows.size(), steps.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const int number = SEMEL_TRY(rows[i].get<std::int32_t>(0));
        const auto applied_sum = SEMEL_TRY(rows[i].get<std::string_view>(2));
        if (number != steps[i].number || applied_sum != checksum(steps[i]))
            return fail(
                Fault::rejected,
                fmt::format("step {} of {} was applied with another text (checksum {}, this program has {}); "
                            "nothing was changed; a released step must not be edited, add a new one",
                            label(steps[i]), component, applied_sum.substr(0, 12), checksum(steps[i]).substr(0, 12)));
    }
    return rows.size();
}

/// Applies the next step, if there is one; returns its label.
Result<std::optional<std::string>> apply_next(Transaction& tx, std::string_view component,
                                              std::span<const Migration> steps) {
    // SQLite needs no lock: it has one writer at a time, and this transaction writes.
    if (tx.dialect() == Dialect::postgres) SEMEL_TRY(tx.execute("SELECT pg_advisory_xact_lock($1)", migrate_lock));
    const auto exists = SEMEL_TRY(tx.execute(bookkeeping(tx.dialect()).exists));
    if (!SEMEL_TRY(exists.scalar<bool>())) SEMEL_TRY(tx.run_script(bookkeeping(tx.dialect()).create));
    const std::size_t done = SEMEL_TRY(count_applied(tx, component, steps));
    if (done == steps.size()) return std::optional<std::string>();
    const Migration& step = steps[done];
    if (Status applied = tx.run_script(planted(step.sql)); !applied)
        return fail(std::move(applied).error().within("step " + label(step)));
    SEMEL_TRY(tx.execute(bookkeeping(tx.dialect()).record, component, step.number, step.name, checksum(step)));
    SEMEL_FAILPOINT("migrate.before_commit");
    return std::optional(label(step));
}

void check_numbers(std::span<const Migration> steps) {
    for (std::size_t i = 0; i < steps.size(); ++i)
        SEMEL_ASSERT(steps[i].number == static_cast<int>(i) + 1 && "steps are numbered 1, 2, 3, … without gaps");
}

/// A schema step may build an index over a large table: the caller's deadline is its only limit.
TransactOptions patient(Database& database, Deadline deadline, Access access) {
    TransactOptions options;
    options.deadline = deadline.within(database.clock().now(), std::chrono::hours(24));
    options.transaction.access = access;
    options.transaction.lock_timeout = std::chrono::hours(24);
    options.transaction.statement_timeout = std::chrono::hours(24);
    options.transaction.commit_timeout = std::chrono::hours(24);
    return options;
}

}  // namespace

Result<SchemaState> schema_state(Database& database, std::string_view component, std::span<const Migration> steps,
                                 Deadline deadline) {
    check_numbers(steps);
    auto outcome = transact(database, patient(database, deadline, Access::read_only),
                            [&](Transaction& tx) { return count_applied(tx, component, steps); });
    if (!outcome.committed()) return fail(std::move(outcome).error());
    SchemaState state;
    state.at = static_cast<int>(outcome.value());
    for (const Migration& step : steps.subspan(outcome.value())) state.pending.push_back(label(step));
    return state;
}

Result<SchemaState> migrate(Database& database, std::string_view component, std::span<const Migration> steps,
                            Deadline deadline) {
    check_numbers(steps);
    SchemaState state;
    for (;;) {
        auto outcome = transact(database, patient(database, deadline, Access::read_write),
                                [&](Transaction& tx) { return apply_next(tx, component, steps); });
        // An unknown outcome is safe to leave: the next call reads what is there and goes on.
        if (!outcome.committed()) return fail(std::move(outcome).error());
        if (!outcome.value()) break;
        SEMEL_FAILPOINT("migrate.after_commit");
        state.applied.push_back(*outcome.value());
    }
    state.at = static_cast<int>(steps.size());
    return state;
}

}  // namespace semel
