#include "semel/sqlite/failure_table.hpp"

#include <array>
#include <string>

namespace semel::sqlite {
namespace {

using enum Fault;

// Columns: code, name, connect, transaction, commit, closes the session, why.
constexpr std::array rules{
    // Someone else holds a lock.
    Rule{"5", "BUSY", unavailable, unavailable, unavailable, false,
         "Another connection holds the lock; at COMMIT the transaction stays open and is rolled back by us."},
    Rule{"261", "BUSY_RECOVERY", unavailable, conflict, conflict, false,
         "Another process is recovering the log after a crash; soon over, then the transaction can be rerun."},
    Rule{"517", "BUSY_SNAPSHOT", conflict, conflict, conflict, false,
         "A reader that wants to write reads an outdated snapshot; waiting does not help, rerunning does."},
    Rule{"773", "BUSY_TIMEOUT", unavailable, unavailable, unavailable, false,
         "A blocking lock of another process was not released in time."},
    Rule{"6", "LOCKED", unavailable, conflict, conflict, false,
         "A table is in use within this process; rolled back and rerun."},
    Rule{"262", "LOCKED_SHAREDCACHE", unavailable, conflict, conflict, false,
         "Another connection of the shared cache holds the table; rolled back and rerun."},
    Rule{"518", "LOCKED_VTAB", unavailable, conflict, conflict, false,
         "A virtual table is locked; rolled back and rerun."},
    Rule{"15", "PROTOCOL", unavailable, unavailable, unknown, false, "The log's locks were contended for too long."},

    // The transaction or the statement was overtaken.
    Rule{"4", "ABORT", conflict, conflict, unknown, false, "The statement was aborted; rerun the transaction."},
    Rule{"516", "ABORT_ROLLBACK", conflict, conflict, unknown, false,
         "The transaction was rolled back beneath a running statement; rerun it."},
    Rule{"9", "INTERRUPT", rejected, rejected, unknown, false,
         "The statement was cancelled, by our limit or by someone else; more of the same would be cancelled too."},
    Rule{"17", "SCHEMA", conflict, conflict, unknown, false, "The schema changed meanwhile; rerun the transaction."},
    Rule{"513", "ERROR_RETRY", conflict, conflict, unknown, false, "SQLite asks for the statement once more."},
    Rule{"769", "ERROR_SNAPSHOT", conflict, conflict, unknown, false, "The snapshot is no longer available."},

    // Room.
    Rule{"13", "FULL", throttled, throttled, throttled, false,
         "The disk or the page limit is full; the transaction is rolled back, nothing is lost, space is needed."},
    Rule{"7", "NOMEM", unavailable, unavailable, unknown, false,
         "Out of memory; at COMMIT the log may already hold the transaction."},

    // The disk.
    Rule{"10", "IOERR", unavailable, unavailable, unknown, false,
         "The disk failed; at COMMIT nobody can tell what reached it, and the process must restart."},
    Rule{"522", "IOERR_SHORT_READ", broken, broken, unknown, true, "The file is shorter than it says."},
    Rule{"1034", "IOERR_FSYNC", unavailable, unavailable, unknown, true,
         "fsync failed; a later read shows the page cache, not the disk."},
    Rule{"1290", "IOERR_DIR_FSYNC", unavailable, unavailable, unknown, true,
         "fsync of the directory failed; the file itself may vanish in a crash."},
    Rule{"8458", "IOERR_CORRUPTFS", broken, broken, unknown, true, "The file system reports that it is damaged."},

    // The file cannot be used as it is.
    Rule{"3", "PERM", rejected, rejected, rejected, false, "The file's permissions forbid it."},
    Rule{"8", "READONLY", rejected, rejected, rejected, false, "The file, or the transaction, is read-only."},
    Rule{"264", "READONLY_RECOVERY", rejected, rejected, rejected, false,
         "The log needs recovery and the file may not be written."},
    Rule{"520", "READONLY_CANTLOCK", rejected, rejected, rejected, false,
         "The shared memory beside the file may not be written."},
    Rule{"776", "READONLY_ROLLBACK", rejected, rejected, rejected, false,
         "A journal needs to be rolled back and the file may not be written."},
    Rule{"1032", "READONLY_DBMOVED", broken, broken, broken, true, "The file was moved or deleted beneath us."},
    Rule{"1288", "READONLY_CANTINIT", rejected, rejected, rejected, false,
         "The shared memory beside the file cannot be made."},
    Rule{"1544", "READONLY_DIRECTORY", rejected, rejected, rejected, false,
         "The log cannot be made beside the file: the directory is read-only."},
    Rule{"14", "CANTOPEN", rejected, unavailable, unknown, false,
         "The file, or the log beside it, could not be opened."},
    Rule{"26", "NOTADB", rejected, broken, broken, true, "The file is not an SQLite database."},
    Rule{"11", "CORRUPT", broken, broken, unknown, true, "The database is damaged."},
    Rule{"22", "NOLFS", rejected, rejected, unknown, false, "The file system cannot hold files that large."},

    // What was asked cannot be done.
    Rule{"1", "ERROR", rejected, rejected, unknown, false, "The statement is wrong for this schema."},
    Rule{"12", "NOTFOUND", rejected, rejected, unknown, false, "Something the statement names does not exist."},
    Rule{"18", "TOOBIG", rejected, rejected, unknown, false, "A value or a row is too large."},
    Rule{"20", "MISMATCH", rejected, rejected, unknown, false, "A value does not fit its column."},
    Rule{"23", "AUTH", rejected, rejected, unknown, false,
         "BEGIN, COMMIT, ROLLBACK and the settings of the connection belong to the session."},
    Rule{"25", "RANGE", rejected, rejected, unknown, false, "A parameter the statement does not have."},

    // Constraints: each is definite, also at COMMIT, where a deferred one is found.
    Rule{"19", "CONSTRAINT", rejected, rejected, rejected, false, "A constraint forbids it."},
    Rule{"275", "CONSTRAINT_CHECK", rejected, rejected, rejected, false, "A CHECK forbids it."},
    Rule{"531", "CONSTRAINT_COMMITHOOK", rejected, rejected, rejected, false, "A commit hook forbids it."},
    Rule{"787", "CONSTRAINT_FOREIGNKEY", rejected, rejected, rejected, false, "A foreign key points nowhere."},
    Rule{"1043", "CONSTRAINT_FUNCTION", rejected, rejected, rejected, false, "A function forbids it."},
    Rule{"1299", "CONSTRAINT_NOTNULL", rejected, rejected, rejected, false, "A column must not be NULL."},
    Rule{"1555", "CONSTRAINT_PRIMARYKEY", rejected, rejected, rejected, false, "The primary key exists already."},
    Rule{"1811", "CONSTRAINT_TRIGGER", rejected, rejected, rejected, false, "A trigger forbids it."},
    Rule{"2067", "CONSTRAINT_UNIQUE", rejected, rejected, rejected, false, "The unique key exists already."},
    Rule{"2323", "CONSTRAINT_VTAB", rejected, rejected, rejected, false, "A virtual table forbids it."},
    Rule{"2579", "CONSTRAINT_ROWID", rejected, rejected, rejected, false, "The row id exists already."},
    Rule{"2835", "CONSTRAINT_PINNED", rejected, rejected, rejected, false, "The row is in use by a trigger."},
    Rule{"3091", "CONSTRAINT_DATATYPE", rejected, rejected, rejected, false,
         "A value is not of its column's strict type."},

    // Bugs.
    Rule{"2", "INTERNAL", broken, broken, unknown, true, "A bug in SQLite."},
    Rule{"21", "MISUSE", broken, broken, unknown, true, "A bug in how we call SQLite."},
};
static_assert(well_formed(rules));

}  // namespace

std::span<const Rule> sqlite_rules() noexcept { return rules; }

const Rule* rule_of(int extended_code) noexcept {
    constexpr int primary_mask = 0xff;
    if (const Rule* own = find(rules, std::to_string(extended_code))) return own;
    return find(rules, std::to_string(extended_code & primary_mask));
}

Fault fault_of(int extended_code, Phase phase) noexcept {
    const Rule* rule = rule_of(extended_code);
    if (rule != nullptr) return rule->fault(phase);
    return phase == Phase::commit ? Fault::unknown : Fault::broken;
}

}  // namespace semel::sqlite
