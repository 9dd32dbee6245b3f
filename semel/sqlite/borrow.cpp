#include "semel/sqlite/borrow.hpp"

#include <sqlite3.h>

#include <utility>

namespace semel::sqlite {
namespace {

bool foreign_keys(sqlite3* database) {
    int on = 0;
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_FKEY, -1, &on);
    return on != 0;
}

void set_foreign_keys(sqlite3* database, bool on) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_FKEY, on ? 1 : 0, nullptr);
}

}  // namespace

Result<std::unique_ptr<BorrowedSession>> borrow(sqlite3* database, Connection::Handlers handlers, Clock& clock) {
    SEMEL_ASSERT(database != nullptr);
    if (sqlite3_get_autocommit(database) == 0)
        return fail(Fault::rejected, "borrow: a transaction is open on the connection; end it first");
    const bool before = foreign_keys(database);
    set_foreign_keys(database, true);
    auto connection = Connection::borrow(database, handlers, clock);
    return std::unique_ptr<BorrowedSession>(new BorrowedSession(std::move(connection), clock, before));
}

BorrowedSession::BorrowedSession(std::unique_ptr<Connection> connection, Clock& clock,
                                 bool foreign_keys_before) noexcept
    : connection_(std::move(connection)), clock_(&clock), foreign_keys_before_(foreign_keys_before) {}

BorrowedSession::~BorrowedSession() { std::ignore = release(); }

Status BorrowedSession::release() {
    if (!connection_) return {};
    Status undone = undo();
    set_foreign_keys(connection_->handle(), foreign_keys_before_);
    connection_.reset();
    state_ = SessionState::closed;
    return undone;
}

Limits BorrowedSession::limits(Deadline deadline) const {
    return {.deadline = deadline,
            .lock = Deadline::after(clock_->now(), options_.lock_timeout),
            .statement = options_.statement_timeout,
            .access = options_.access};
}

Status BorrowedSession::usable() const {
    SEMEL_ASSERT(state_ != SessionState::idle && "outside a transaction");
    if (state_ == SessionState::closed) return fail(Fault::broken, "the borrowed connection was released");
    if (state_ == SessionState::transaction) return {};
    Error error = *failure_;
    return fail(std::move(error).within("the transaction failed before and can only be rolled back"));
}

template <class T>
Result<T> BorrowedSession::remember(Result<T> result) {
    work_.clear();
    if (result) return result;
    failure_ = result.error();
    state_ = SessionState::failed;
    return result;
}

Status BorrowedSession::begin(const TransactionOptions& options, Deadline deadline) {
    if (state_ == SessionState::closed) return fail(Fault::broken, "begin: the borrowed connection was released");
    SEMEL_ASSERT(state_ == SessionState::idle && "begin inside a transaction");
    options_ = options;
    const auto how = options.access == Access::read_only ? Control::begin : Control::begin_immediate;
    if (const int code = connection_->control(how, limits(deadline)); code != SQLITE_OK)
        return fail(connection_->failed(code, Phase::connect).within("begin"));
    state_ = SessionState::transaction;
    return {};
}

void BorrowedSession::post(const Statement& statement) {
    SEMEL_ASSERT(state_ != SessionState::idle && "post outside a transaction");
    if (state_ == SessionState::transaction) work_.add(statement);
}

void BorrowedSession::post_ahead(const Statement& statement) {
    SEMEL_ASSERT(state_ != SessionState::idle && "post_ahead outside a transaction");
    if (state_ == SessionState::transaction) work_.add_ahead(statement);
}

Result<Rows> BorrowedSession::look(const Statement& statement, Deadline deadline) {
    if (state_ == SessionState::closed) return fail(Fault::broken, "look: the borrowed connection was released");
    SEMEL_ASSERT(state_ == SessionState::idle && "look inside a transaction");
    Limits alone = limits(deadline);
    alone.access = Access::read_only;
    return connection_->run(statement, alone);
}

Status BorrowedSession::flush_into_transaction(Deadline deadline) {
    // Without a transaction each statement would commit by itself.
    if (!connection_->in_transaction()) return fail(Fault::conflict, "the transaction was rolled back beneath us");
    return connection_->run_all(work_, limits(deadline));
}

Result<Rows> BorrowedSession::execute(const Statement& statement, Deadline deadline) {
    SEMEL_TRY(usable());
    return remember([&]() -> Result<Rows> {
        SEMEL_TRY(flush_into_transaction(deadline));
        return connection_->run(statement, limits(deadline));
    }());
}

Status BorrowedSession::flush(Deadline deadline) {
    SEMEL_TRY(usable());
    return remember(flush_into_transaction(deadline));
}

Status BorrowedSession::run_script(std::string_view script, Deadline deadline) {
    SEMEL_TRY(usable());
    return remember([&]() -> Status {
        SEMEL_TRY(flush_into_transaction(deadline));
        return connection_->run_script(script, limits(deadline));
    }());
}

Outcome<> BorrowedSession::commit(Deadline deadline) {
    if (Status fit = flush(deadline); !fit) {
        std::ignore = undo();
        return NotCommitted{std::move(fit).error()};
    }
    const int code = connection_->control(Control::commit, limits(deadline));
    if (code == SQLITE_OK) {
        state_ = SessionState::idle;
        return Committed<void>{};
    }
    Error error = connection_->failed(code, Phase::commit).within("commit");
    const bool unknown = error.fault == Fault::unknown;
    std::ignore = undo();
    if (unknown) state_ = SessionState::closed;
    return unknown ? Outcome<>(Unknown{std::move(error)}) : Outcome<>(NotCommitted{std::move(error)});
}

Status BorrowedSession::rollback(Deadline) {
    return undo();  // Of a transaction that could not begin, too: then there is nothing to undo.
}

Status BorrowedSession::reset(Deadline) {
    if (state_ == SessionState::closed) return fail(Fault::broken, "reset: the borrowed connection was released");
    return undo();
}

Status BorrowedSession::undo() {
    work_.clear();
    failure_.reset();
    if (state_ == SessionState::closed) return {};
    state_ = SessionState::idle;
    if (!connection_->in_transaction()) return {};
    if (const int code = connection_->control(Control::rollback, limits({})); code != SQLITE_OK) {
        state_ = SessionState::closed;
        return fail(connection_->failed(code, Phase::transaction).within("rollback"));
    }
    return {};
}

}  // namespace semel::sqlite
