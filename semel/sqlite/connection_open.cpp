#include "semel/sqlite/connection.hpp"
#include "semel/sqlite/functions.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace semel::sqlite {
namespace {

/// How many instructions of SQLite's machine lie between two looks at the clock: some tens of
/// microseconds.
constexpr int progress_instructions = 1000;

/// What others share this connection for must stay as it was opened.
constexpr std::array<const char*, 15> kept_settings{
    "busy_timeout", "case_sensitive_like",      "cell_size_check", "checkpoint_fullfsync", "foreign_keys",
    "fullfsync",    "ignore_check_constraints", "journal_mode",    "legacy_alter_table",   "locking_mode",
    "query_only",   "recursive_triggers",       "synchronous",     "wal_autocheckpoint",   "writable_schema",
};

/// The reason why a file could not be opened or made ready, looked for in the file system because
/// SQLite only says that it could not.
Error explain(Error error, const std::string& path) {
    namespace fs = std::filesystem;
    const bool plain = !path.starts_with("file:") && path != ":memory:" && !path.empty();
    if (plain) {
        std::error_code ignored;
        std::error_code denied;
        const fs::path file(path);
        const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
        const bool exists = fs::exists(file, denied);
        if (denied == std::errc::permission_denied) {
            error.message = fmt::format("the directory {} may not be entered by this user", folder.string());
            error.cause.hint = "correct its permissions, or run as another user";
        } else if (!fs::exists(folder, ignored)) {
            error.message = fmt::format("the directory {} does not exist", folder.string());
            error.cause.hint = "create it, or correct the path";
        } else if (fs::is_directory(file, ignored)) {
            error.message = fmt::format("{} is a directory", path);
            error.cause.hint = "name a file in it";
        } else if (error.cause.code == std::to_string(SQLITE_CANTOPEN) && !exists) {
            error.message = fmt::format("the database file {} does not exist and could not be created", path);
            error.cause.hint = "correct the path, allow it to be created, or make the directory writable";
        } else if (::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) != 0) {
            error.fault = Fault::rejected;
            error.message =
                fmt::format("the directory {} is read-only, and the log must be written there", folder.string());
            error.cause.hint = "make the directory writable for this user";
        }
    }
    return std::move(error).within(fmt::format("open {}", path));
}

}  // namespace

Connection::Connection(DatabaseHandle owned, sqlite3* database, std::size_t statements_max, Clock& clock) noexcept
    : owned_(std::move(owned)), database_(database), clock_(&clock), cache_(database, statements_max) {}

Connection::~Connection() {
    for (StatementHandle& statement : controls_) statement.reset();
    cache_.clear();
    if (owned_) sqlite3_set_authorizer(database_, nullptr, nullptr);
    if (owned_) sqlite3_wal_hook(database_, nullptr, nullptr);
    if (handlers_set_) {
        sqlite3_busy_timeout(database_, busy_timeout_before_);
        sqlite3_progress_handler(database_, 0, nullptr, nullptr);
    }
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, Use use, std::size_t statements_max,
                                                     Clock& clock, const Limits& limits) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (use == Use::create) flags |= SQLITE_OPEN_CREATE;
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
    DatabaseHandle owned(raw);
    SEMEL_ASSERT(raw != nullptr && "out of memory");
    if (code != SQLITE_OK) return fail(explain(failure(raw, said_by(raw, code), Phase::connect), path));
    if (sqlite3_db_readonly(raw, "main") == 1) {
        const Said read_only{.code = SQLITE_READONLY, .text = "attempt to write a readonly database"};
        return fail(failure(raw, read_only, Phase::connect).within(fmt::format("open {}", path)));
    }
    std::unique_ptr<Connection> connection(new Connection(std::move(owned), raw, statements_max, clock));
    sqlite3_busy_handler(raw, on_busy, connection.get());
    sqlite3_progress_handler(raw, progress_instructions, on_progress, connection.get());
    connection->handlers_set_ = true;
    add_functions(raw, clock);
    connection->own_statement_ = true;
    if (Status ready = connection->configure(use, limits); !ready) return fail(explain(std::move(ready).error(), path));
    connection->own_statement_ = false;
    sqlite3_set_authorizer(raw, on_prepare, connection.get());
    // Our own hook takes the place of SQLite's checkpoint, which would hide a failed fsync.
    if (use != Use::read) sqlite3_wal_hook(raw, on_commit_to_log, connection.get());
    return connection;
}

std::unique_ptr<Connection> Connection::borrow(sqlite3* database, Handlers handlers, Clock& clock) {
    // A statement or two of one transaction: more than these need not be kept compiled.
    constexpr std::size_t statements_max = 16;
    std::unique_ptr<Connection> connection(new Connection(nullptr, database, statements_max, clock));
    add_functions(database, clock);
    if (handlers == Handlers::ours) {
        const auto timeout = connection->setting("PRAGMA busy_timeout", {});
        connection->busy_timeout_before_ = timeout ? std::stoi("0" + *timeout) : 0;
        sqlite3_busy_handler(database, on_busy, connection.get());
        sqlite3_progress_handler(database, progress_instructions, on_progress, connection.get());
        connection->handlers_set_ = true;
    }
    return connection;
}

Result<std::string> Connection::setting(std::string_view pragma, const Limits& limits) {
    watch(false, limits);
    sqlite3_stmt* raw = nullptr;
    int code = sqlite3_prepare_v2(database_, pragma.data(), static_cast<int>(pragma.size()), &raw, nullptr);
    const StatementHandle statement(raw);
    if (code != SQLITE_OK) return fail(failed(code, Phase::connect));
    std::string value;
    while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(raw, 0));
        if (text != nullptr) value = text;
    }
    if (code != SQLITE_DONE) return fail(failed(code, Phase::connect));
    return value;
}

Status Connection::rewrite_log(const Limits& limits) {
    sqlite3_file* log = nullptr;
    sqlite3_file_control(database_, "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
    if (log == nullptr || log->pMethods == nullptr) return {};
    // Under the writer's lock nobody else writes to the log.
    if (const int code = control(Control::begin_immediate, limits); code != SQLITE_OK)
        return fail(failed(code, Phase::connect));
    constexpr sqlite3_int64 piece = 1 << 16;
    std::array<char, piece> bytes;
    sqlite3_int64 size = 0;
    int code = log->pMethods->xFileSize(log, &size);
    for (sqlite3_int64 at = 0; at < size && code == SQLITE_OK; at += piece) {
        const int length = static_cast<int>(std::min(piece, size - at));
        code = log->pMethods->xRead(log, bytes.data(), length, at);
        if (code == SQLITE_OK) code = log->pMethods->xWrite(log, bytes.data(), length, at);
    }
    if (code == SQLITE_OK && size > 0) code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    std::ignore = control(Control::rollback, limits);
    if (code == SQLITE_OK) return {};
    return fail(failure(database_, {.code = code, .text = sqlite3_errstr(code)}, Phase::connect));
}

Status Connection::configure(Use use, const Limits& limits) {
    if (use == Use::read) {
        SEMEL_TRY(setting("PRAGMA query_only = ON", limits));
        return {};
    }
    const std::string mode = SEMEL_TRY(setting("PRAGMA journal_mode = WAL", limits));
    if (mode != "wal" && mode != "memory") {
        Error error;
        error.fault = Fault::rejected;
        error.message = "the database cannot keep a write-ahead log here";
        error.native = "journal_mode is " + mode;
        error.cause.hint = "put the file on a local disk; network file systems lack the shared memory it needs";
        return fail(std::move(error));
    }
    SEMEL_TRY(setting("PRAGMA synchronous = FULL", limits));
    if (mode == "wal") SEMEL_TRY(rewrite_log(limits));
    SEMEL_TRY(setting("PRAGMA foreign_keys = ON", limits));
    // The log is cut back to this after a burst instead of keeping its largest size for ever.
    SEMEL_TRY(setting("PRAGMA journal_size_limit = 67108864", limits));
    return {};
}

int Connection::on_prepare(void* self, int action, const char* first, const char* second, const char*,
                           const char*) noexcept {
    if (static_cast<Connection*>(self)->own_statement_) return SQLITE_OK;
    switch (action) {
        case SQLITE_TRANSACTION:
        case SQLITE_ATTACH:  // A COMMIT across two files with a log each is not atomic.
        case SQLITE_DETACH: return SQLITE_DENY;
        case SQLITE_SAVEPOINT: return sqlite3_strnicmp(second, "semel_", 6) == 0 ? SQLITE_DENY : SQLITE_OK;
        case SQLITE_PRAGMA: {
            const auto kept = [first](const char* name) { return sqlite3_stricmp(first, name) == 0; };
            return second != nullptr && std::ranges::any_of(kept_settings, kept) ? SQLITE_DENY : SQLITE_OK;
        }
        default: return SQLITE_OK;
    }
}

}  // namespace semel::sqlite
