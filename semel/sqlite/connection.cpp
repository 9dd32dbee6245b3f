#include "semel/sqlite/connection.hpp"

#include "semel/base/mutant.hpp"
#include "semel/sqlite/encode.hpp"
#include "semel/sqlite/posted.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <climits>
#include <utility>

namespace semel::sqlite {
namespace {

constexpr std::array<std::string_view, 7> control_texts{
    "BEGIN",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT semel_member",
    "ROLLBACK TO semel_member",
    "RELEASE semel_member",
};

/// Leaves the statement ready for its next use, with nothing borrowed bound to it.
class Reset {
public:
    explicit Reset(sqlite3_stmt* statement) noexcept : statement_(statement) {}
    ~Reset() {
        sqlite3_reset(statement_);
        sqlite3_clear_bindings(statement_);
    }
    Reset(const Reset&) = delete;
    Reset& operator=(const Reset&) = delete;

private:
    sqlite3_stmt* statement_;
};

}  // namespace

void Connection::watch(bool cancellable, const Limits& limits) {
    lock_until_ = limits.lock.sooner(limits.deadline);
    deadline_ = limits.deadline;
    cancel_at_ = cancellable ? limits.deadline.within(clock_->now(), limits.statement) : Deadline::never();
    cancelled_ = false;
}

int Connection::control(Control what, const Limits& limits) {
    const auto index = static_cast<std::size_t>(what);
    StatementHandle& statement = controls_[index];
    own_statement_ = true;
    watch(false, limits);
    int code = SQLITE_OK;
    if (!statement) {
        sqlite3_stmt* raw = nullptr;
        const std::string_view text = control_texts[index];
        code = sqlite3_prepare_v3(database_, text.data(), static_cast<int>(text.size()), SQLITE_PREPARE_PERSISTENT,
                                  &raw, nullptr);
        statement.reset(raw);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement.get());
        code = code == SQLITE_DONE ? SQLITE_OK : sqlite3_extended_errcode(database_);
        sqlite3_reset(statement.get());
    }
    own_statement_ = false;
    return code;
}

Error Connection::failed(int code, Phase phase) const { return failure(database_, said_by(database_, code), phase); }

Result<Rows> Connection::run(const Statement& statement, const Limits& limits) {
    if (limits.deadline.passed(clock_->now())) return fail(deadline_passed("the statement"));
    watch(false, limits);
    PrepareFailure refused;
    Prepared* prepared = cache_.prepare(statement.sql.text(), refused);
    if (prepared == nullptr) {
        if (refused.code == SQLITE_OK) return fail(Fault::rejected, refused.message);
        return fail(failure(database_, {.code = refused.code, .text = refused.message}, Phase::transaction));
    }
    if (!prepared->handle) return Rows();
    if (limits.access == Access::read_only && !prepared->read_only) return fail(read_only_transaction());
    const Reset reset(prepared->handle.get());
    SEMEL_TRY(bind_values(*prepared, statement.parameters));
    watch(prepared->read_only, limits);
    return step_through(*prepared, statement);
}

Result<Rows> Connection::step_through(Prepared& prepared, const Statement& statement) {
    sqlite3_stmt* const raw = prepared.handle.get();
    const std::int64_t changes_before = sqlite3_total_changes64(database_);
    Rows rows;
    add_columns(raw, rows);
    for (;;) {
        const int code = sqlite3_step(raw);
        if (code == SQLITE_DONE) break;
        if (code != SQLITE_ROW) return fail(step_failed(code, raw));
        add_row(raw, rows);
    }
    if (prepared.read_only) {
        rows.set_affected(static_cast<std::int64_t>(rows.size()));
    } else {
        // A statement that is no INSERT, UPDATE or DELETE leaves the count of an earlier one.
        const bool changed = sqlite3_total_changes64(database_) != changes_before;
        rows.set_affected(changed ? sqlite3_changes64(database_) : 0);
    }
    const bool unguarded = SEMEL_MUTANT("stale_guarded_write");
    if (!unguarded && statement.expected_rows && *statement.expected_rows != rows.affected())
        return fail(wrong_row_count(*statement.expected_rows, rows.affected()));
    return rows;
}

Error Connection::step_failed(int code, sqlite3_stmt* statement) {
    const Said said = said_by(database_, code);
    sqlite3_reset(statement);
    if (cancelled_) return statement_cancelled(deadline_.passed(clock_->now()));
    return failure(database_, said, Phase::transaction);
}

Status Connection::run_all(const Posted& statements, const Limits& limits) {
    for (std::size_t i = 0; i < statements.size(); ++i) SEMEL_TRY(run(statements[i], limits));
    return {};
}

Status Connection::run_script(std::string_view script, const Limits& limits) {
    SEMEL_ASSERT(script.size() < INT_MAX);
    const char* at = script.data();
    const char* const end = at + script.size();
    while (at != end) {
        if (limits.deadline.passed(clock_->now())) return fail(deadline_passed("the next statement of the script"));
        watch(false, limits);
        sqlite3_stmt* raw = nullptr;
        const int code = sqlite3_prepare_v2(database_, at, static_cast<int>(end - at), &raw, &at);
        const StatementHandle statement(raw);
        if (code != SQLITE_OK) return fail(failed(code, Phase::transaction));
        if (raw == nullptr) continue;
        const bool read_only = sqlite3_stmt_readonly(raw) != 0;
        if (limits.access == Access::read_only && !read_only) return fail(read_only_transaction());
        watch(read_only, limits);
        int stepped = SQLITE_ROW;
        while (stepped == SQLITE_ROW) stepped = sqlite3_step(raw);
        if (stepped != SQLITE_DONE) return fail(step_failed(stepped, raw));
    }
    return {};
}

bool Connection::in_transaction() const noexcept { return sqlite3_get_autocommit(database_) == 0; }

bool Connection::has_file() const noexcept {
    const char* name = sqlite3_db_filename(database_, "main");
    return name != nullptr && *name != '\0';
}

bool Connection::has_open_foreign_keys() const noexcept {
    int open = 0;
    int unused = 0;
    sqlite3_db_status(database_, SQLITE_DBSTATUS_DEFERRED_FKS, &open, &unused, 0);
    return open != 0;
}

int Connection::checkpoint() {
    log_pages_ = 0;
    const int code = sqlite3_wal_checkpoint_v2(database_, "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    return code == SQLITE_OK ? SQLITE_OK : sqlite3_extended_errcode(database_);
}

int Connection::on_busy(void* self, int times) noexcept {
    auto& connection = *static_cast<Connection*>(self);
    const Instant now = connection.clock_->now();
    if (connection.lock_until_.passed(now)) return 0;
    // From 1 ms up to 32 ms: the lock of another process is mostly held for one fsync.
    const Duration pause = std::chrono::milliseconds(1) * (1 << std::min(times, 5));
    connection.clock_->sleep(std::min(now + pause, connection.lock_until_.at()), {});
    return 1;
}

int Connection::on_progress(void* self) noexcept {
    auto& connection = *static_cast<Connection*>(self);
    if (connection.cancel_at_.is_never() || !connection.cancel_at_.passed(connection.clock_->now())) return 0;
    connection.cancelled_ = true;
    return 1;
}

int Connection::on_commit_to_log(void* self, sqlite3*, const char*, int pages) noexcept {
    static_cast<Connection*>(self)->log_pages_ = pages;
    return SQLITE_OK;
}

}  // namespace semel::sqlite
