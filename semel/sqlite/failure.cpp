#include "semel/sqlite/failure.hpp"

#include "semel/db/own_code.hpp"
#include "semel/sqlite/constraint_name.hpp"
#include "semel/sqlite/failure_table.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace semel::sqlite {
namespace {

constexpr int primary_of(int extended_code) noexcept { return extended_code & 0xff; }

struct Words {
    std::string_view message;
    std::string_view hint;
};

/// For the failures that a person meets; the others are told by their row in the table.
Words words_of(int extended_code) noexcept {
    switch (primary_of(extended_code)) {
        case SQLITE_BUSY:
            return {"the database is locked by another process",
                    "end the other process's transaction, or allow a longer lock_timeout"};
        case SQLITE_READONLY:
            return {"the database is read-only", "make the file, and the directory it lies in, writable for this user"};
        case SQLITE_CORRUPT:
            return {"the database is damaged",
                    "stop writing, keep a copy, see PRAGMA integrity_check, restore from a backup"};
        case SQLITE_FULL:
            return {"the disk, or the database's page limit, is full; nothing of the transaction was kept",
                    "free disk space or raise PRAGMA max_page_count, then try again"};
        case SQLITE_CANTOPEN:
            return {"the database file, or the log beside it, could not be opened",
                    "check the path, the permissions and the number of open files"};
        case SQLITE_NOTADB:
            return {"the file is not an SQLite database",
                    "check the path; a file of another program is never overwritten"};
        case SQLITE_IOERR: return {"the disk failed", "check the disk and the system's log"};
        case SQLITE_AUTH:
            return {"BEGIN, COMMIT, ROLLBACK and the connection's settings belong to the session",
                    "use begin, commit and rollback of the session"};
        case SQLITE_ERROR: return {"the statement is wrong for this schema", "see the other side's text"};
        default: return {};
    }
}

std::string constraint_message(int extended_code, std::string_view constraint, std::string_view said) {
    const auto colon = said.find(": ");
    switch (extended_code) {
        case SQLITE_CONSTRAINT_NOTNULL:
            return fmt::format("{} must not be NULL",
                               colon == std::string_view::npos ? "a column" : said.substr(colon + 2));
        case SQLITE_CONSTRAINT_FOREIGNKEY: return "a foreign key points nowhere";
        default: break;
    }
    if (!constraint.empty()) return fmt::format("constraint {} is violated", constraint);
    return "a constraint is violated";
}

}  // namespace

Said said_by(sqlite3* database, int code) {
    // The connection knows more than a primary code, if it speaks of the same failure.
    const int known = sqlite3_extended_errcode(database);
    if (primary_of(known) == primary_of(code)) return {.code = known, .text = sqlite3_errmsg(database)};
    return {.code = code, .text = sqlite3_errstr(code)};
}

Error failure(sqlite3* database, const Said& said, Phase phase) {
    Error error;
    error.fault = fault_of(said.code, phase);
    error.native = said.text;
    error.cause.code = std::to_string(said.code);
    if (primary_of(said.code) == SQLITE_CONSTRAINT) {
        error.cause.constraint = constraint_name(database, said.code, said.text);
        error.message = constraint_message(said.code, error.cause.constraint, said.text);
        return error;
    }
    if (const OwnCode* own = said.code == SQLITE_ERROR ? own_code(said.text) : nullptr) {
        error.fault = own->fault;
        error.message = own->message;
        error.cause.code = own->code;
        return error;
    }
    if (primary_of(said.code) == SQLITE_BUSY) error.cause.timeout = Timeout::lock;
    const Words words = words_of(said.code);
    const Rule* rule = rule_of(said.code);
    if (!words.message.empty()) {
        error.message = words.message;
    } else {
        error.message = rule != nullptr ? fmt::format("SQLite says {}", rule->name) : std::string("SQLite failed");
    }
    if (!words.hint.empty()) {
        error.cause.hint = words.hint;
    } else if (rule != nullptr) {
        error.cause.hint = rule->why;
    }
    return error;
}

Error deadline_passed(std::string_view before_what) {
    Error error;
    error.fault = Fault::unavailable;
    error.message = fmt::format("the deadline passed before {}; nothing was done", before_what);
    error.cause.timeout = Timeout::total;
    return error;
}

Error statement_cancelled(bool by_deadline) {
    Error error;
    error.fault = fault_of(SQLITE_INTERRUPT, Phase::transaction);
    error.message = by_deadline ? "the statement was cancelled: the deadline passed"
                                : "the statement was cancelled: it ran longer than statement_timeout";
    error.cause.code = std::to_string(SQLITE_INTERRUPT);
    error.cause.timeout = by_deadline ? Timeout::total : Timeout::statement;
    return error;
}

Error wrong_row_count(std::int64_t expected, std::int64_t changed) {
    Error error;
    error.fault = Fault::conflict;
    error.message = fmt::format("the statement was to change {} rows and changed {}", expected, changed);
    error.cause.code = "SM006";
    return error;
}

Error read_only_transaction() {
    Error error;
    error.fault = fault_of(SQLITE_READONLY, Phase::transaction);
    error.message = "the transaction is read-only and the statement writes";
    error.cause.code = std::to_string(SQLITE_READONLY);
    error.cause.hint = "begin the transaction with Access::read_write";
    return error;
}

Error open_foreign_key() {
    Error error;
    error.fault = fault_of(SQLITE_CONSTRAINT_FOREIGNKEY, Phase::commit);
    error.message = constraint_message(SQLITE_CONSTRAINT_FOREIGNKEY, {}, {});
    error.native = "FOREIGN KEY constraint failed";
    error.cause.code = std::to_string(SQLITE_CONSTRAINT_FOREIGNKEY);
    return error;
}

}  // namespace semel::sqlite
