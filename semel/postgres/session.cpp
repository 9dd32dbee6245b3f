#include "semel/postgres/session.hpp"

#include "semel/postgres/decode.hpp"
#include "semel/postgres/failure_table.hpp"
#include "semel/postgres/resolve.hpp"

#include <libpq-fe.h>

namespace semel::postgres {
namespace {

Error closed_session() {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "the session is closed; nothing was sent";
    return error;
}

/// The isolation is named unless it is what the server takes by default; naming it costs the server
/// a setting in each transaction.
const char* begin_text(const TransactionOptions& options, bool read_committed_by_default) noexcept {
    const bool writes = options.access == Access::read_write;
    if (writes && read_committed_by_default && options.isolation == Isolation::read_committed) return "BEGIN";
    switch (options.isolation) {
        case Isolation::read_committed:
            return writes ? "BEGIN ISOLATION LEVEL READ COMMITTED" : "BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY";
        case Isolation::repeatable_read:
            return writes ? "BEGIN ISOLATION LEVEL REPEATABLE READ"
                          : "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        case Isolation::serializable:
            return writes ? "BEGIN ISOLATION LEVEL SERIALIZABLE" : "BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY";
    }
    SEMEL_ASSERT(false && "an Isolation outside its enumeration");
}

}  // namespace

Status PostgresSession::begin(const TransactionOptions& options, Deadline deadline) {
    if (state_ == SessionState::closed) return fail(closed_session());
    SEMEL_ASSERT(state_ == SessionState::idle && "the transaction before was neither committed nor rolled back");
    transaction_ = options;
    state_ = SessionState::transaction;
    begun_ = posted_ = mark_current_ = in_doubt_ = false;
    mark_ = {};
    queue_failure_ = first_failure_ = Status();
    pipeline_.clear();
    pipeline_.add_evictions();
    queue_limits(deadline);
    begin_items_ = pipeline_.size();
    return {};
}

void PostgresSession::queue_limits(Deadline deadline) {
    const Limits limits = limits_of(transaction_, options_, deadline, clock_->now(), direct_ && !borrowed_);
    if (!direct_ || borrowed_) {
        queue_begin(begin_text(transaction_, false));
        limits.add_to(pipeline_, Limits::Reach::transaction);
        return;
    }
    queue_session_limits(limits);
    queue_begin(begin_text(transaction_, read_committed_by_default_));
}

void PostgresSession::queue_begin(const char* sql) {
    // Under a name where there are names. If the name is lost, the server skips the rest of the segment with its COMMIT,
    // and no further segment goes out before this one was answered from inside the transaction.
    const Status added = pipeline_.add(Step::begin, sql, {});
    SEMEL_ASSERT(added);
}

void PostgresSession::queue_session_limits(const Limits& limits) {
    if (limits == limits_in_force_) return;
    // Ahead of BEGIN in a segment of its own, so that a rollback does not undo them.
    limits.add_to(pipeline_, Limits::Reach::session);
    pipeline_.add_sync();
    limits_queued_ = limits;
}

void PostgresSession::post(const Statement& statement) {
    if (state_ != SessionState::transaction || !queue_failure_) return;
    queue_failure_ = queue(Step::statement, statement);
}

void PostgresSession::post_ahead(const Statement& statement) {
    SEMEL_ASSERT(!begun_ && "post_ahead after something was sent");
    if (state_ != SessionState::transaction || !queue_failure_) return;
    queue_failure_ = queue(Step::statement, statement);
    if (queue_failure_) pipeline_.move_last_to(begin_items_);
}

Status PostgresSession::queue(Step step, const Statement& statement) {
    posted_ = true;
    mark_current_ = false;
    const std::string_view text = statement.expected_rows ? expecting(statement) : statement.sql.text();
    return pipeline_.add(step, text, statement.parameters, statement.expected_rows);
}

std::string_view PostgresSession::expecting(const Statement& statement) {
    const auto known = expecting_.find(statement.sql.text());
    if (known != expecting_.end()) return known->second;
    if (expecting_.size() >= options_.statements_max) expecting_.clear();
    // The line breaks end a comment that the statement may end with.
    const std::string last = std::to_string(statement.parameters.size() + 1);
    std::string wrapped;
    for (const std::string_view part : {std::string_view("WITH semel_changed AS ("), statement.sql.text(),
                                        std::string_view("\nRETURNING 1\n) SELECT semel.expect(count(*), $"),
                                        std::string_view(last), std::string_view("::bigint) FROM semel_changed")}) {
        wrapped.append(part);
    }
    return expecting_.emplace(statement.sql.text(), std::move(wrapped)).first->second;
}

Result<Rows> PostgresSession::execute(const Statement& statement, Deadline deadline) {
    SEMEL_TRY(usable(deadline));
    if (queue_failure_) queue_failure_ = queue(Step::awaited, statement);
    Rows rows = SEMEL_TRY(send_and_wait(deadline));
    if (!statement.expected_rows) return rows;
    Rows counted;
    counted.set_affected(*statement.expected_rows);
    return counted;
}

Result<Rows> PostgresSession::look(const Statement& statement, Deadline deadline) {
    if (state_ == SessionState::closed) return fail(closed_session());
    SEMEL_ASSERT(state_ == SessionState::idle && "look inside a transaction");
    pipeline_.clear();
    // The limits of the transaction before may have been those of someone in a hurry.
    if (direct_ && !borrowed_) queue_session_limits(limits_of({}, options_, deadline, clock_->now(), true));
    SEMEL_TRY(pipeline_.add(Step::awaited, statement.sql.text(), statement.parameters));
    Turn turn;
    const Wait wait = exchange(turn, deadline);
    if (wait == Wait::ready && !turn.error) return std::move(turn.rows);
    // Nothing was open, so there is nothing to roll back unless the connection is gone.
    Error error = give_up(wait, turn, deadline);
    if (state_ == SessionState::failed) ended();
    return fail(std::move(error));
}

Status PostgresSession::flush(Deadline deadline) {
    SEMEL_TRY(usable(deadline));
    if (!posted_ && queue_failure_) return {};
    SEMEL_TRY(send_and_wait(deadline));
    return {};
}

Status PostgresSession::usable(Deadline deadline) {
    if (state_ == SessionState::closed) return first_failure_ ? Status(fail(closed_session())) : first_failure_;
    if (state_ == SessionState::failed) return first_failure_;
    SEMEL_ASSERT(state_ == SessionState::transaction && "there is no transaction");
    if (deadline.passed(clock_->now())) {
        Error error;
        error.fault = Fault::rejected;
        error.message = "the deadline has passed; the statement was not sent";
        error.cause.timeout = Timeout::total;
        return fail(std::move(error));
    }
    return {};
}

Status PostgresSession::rollback(Deadline deadline) {
    if (state_ == SessionState::closed) {
        // The server undoes what a lost connection leaves open; only a COMMIT under way it may not.
        if (!in_doubt_) return {};
        Error error = closed_session();
        error.fault = Fault::unknown;
        error.message = "COMMIT was sent and not answered; it cannot be undone";
        return fail(std::move(error));
    }
    pipeline_.clear();
    if (PQtransactionStatus(pipeline_.wire().connection()) == PQTRANS_IDLE) {
        ended();
        return {};
    }
    pipeline_.add_plain(Step::rollback, "ROLLBACK");
    Turn turn;
    const Wait wait = exchange(turn, deadline);
    const bool idle = PQtransactionStatus(pipeline_.wire().connection()) == PQTRANS_IDLE;
    if (wait == Wait::ready && !turn.error && idle) {
        ended();
        return {};
    }
    Error error =
        turn.error ? *std::move(turn.error) : lost_connection(pipeline_.wire().last_words(), Phase::transaction);
    if (wait == Wait::deadline) error.cause.timeout = Timeout::total;
    close();
    return fail(std::move(error).within("rollback: the session was closed, which undoes the transaction"));
}

Status PostgresSession::reset(Deadline deadline) {
    if (state_ == SessionState::closed) return fail(closed_session());
    if (state_ != SessionState::idle) return rollback(deadline);
    pipeline_.clear();
    pipeline_.add_plain(Step::housekeeping, "");
    Turn turn;
    const Wait wait = exchange(turn, deadline);
    if (wait == Wait::ready) return {};
    Error error = turn.error ? *std::move(turn.error) : lost_connection(pipeline_.wire().last_words(), Phase::connect);
    if (wait == Wait::deadline) {
        error.message = "the server did not answer in time";
        error.cause.timeout = Timeout::read;
    }
    close();
    return fail(std::move(error));
}

Result<Resolution> PostgresSession::resolve(const Mark& mark, Deadline deadline) {
    if (state_ == SessionState::closed) return fail(closed_session());
    SEMEL_ASSERT(state_ == SessionState::idle && "resolve needs a session without a transaction");
    pipeline_.clear();
    auto answer = postgres::resolve(pipeline_, *clock_, mark, deadline);
    if (!answer) close();
    return answer;
}

void PostgresSession::ended() noexcept {
    state_ = SessionState::idle;
    begun_ = posted_ = false;
    pipeline_.clear();
}

void PostgresSession::close() noexcept {
    state_ = SessionState::closed;
    pipeline_.clear();
    owned_.reset();
}

}  // namespace semel::postgres
