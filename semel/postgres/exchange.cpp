// How a PostgresSession sends a flush and reads what comes back.

#include "semel/postgres/decode.hpp"
#include "semel/postgres/failure_table.hpp"
#include "semel/postgres/session.hpp"

#include <libpq-fe.h>

#include <charconv>

namespace semel::postgres {
namespace {

/// Whether the failure is about the name that we gave the statement, not about what it does.
bool about_our_name(const Item& item, std::string_view prefix_of_names, const PGresult* result) {
    const std::string_view code = sqlstate_of(result);
    if (!item.named || !is_plain_error(result) || (code != "26000" && code != "42P05")) return false;
    // A statement of the caller's may deal with names of its own, ours do not; and a pooler may have renamed them.
    if (item.step != Step::statement && item.step != Step::awaited) return true;
    const char* text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    return text != nullptr && std::string_view(text).find(prefix_of_names) != std::string_view::npos;
}

/// Whether a table was altered under a prepared statement in a way that changes its columns.
bool about_changed_columns(const PGresult* result) {
    const char* function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    return sqlstate_of(result) == "0A000" && function != nullptr &&
           std::string_view(function) == "RevalidateCachedQuery";
}

}  // namespace

bool PostgresSession::wants_mark() const noexcept {
    return transaction_.marked && transaction_.access == Access::read_write && mark_.transaction == 0 && can_mark_;
}

void PostgresSession::queue_mark() {
    const Status added =
        pipeline_.add(Step::mark, direct_ && !borrowed_ && identity_.known() ? mark_sql : pooled_mark_sql, {});
    SEMEL_ASSERT(added);
}

Result<Rows> PostgresSession::send_and_wait(Deadline deadline) {
    Turn turn;
    if (!queue_failure_) {
        // What cannot be encoded fails the transaction as if the server had refused it.
        turn.error = queue_failure_.error();
        turn.error_is_final = true;
        pipeline_.clear();
        return fail(give_up(Wait::ready, turn, deadline));
    }
    if (wants_mark()) queue_mark();
    const Wait wait = exchange(turn, deadline);
    posted_ = false;
    const bool in_transaction =
        state_ != SessionState::closed && PQtransactionStatus(pipeline_.wire().connection()) == PQTRANS_INTRANS;
    if (wait == Wait::ready && !turn.error && in_transaction && !turn.ran_outside) {
        begun_ = true;
        return std::move(turn.rows);
    }
    return fail(give_up(wait, turn, deadline));
}

Wait PostgresSession::exchange(Turn& turn, Deadline deadline) {
    return pipeline_.exchange(deadline,
                              [this, &turn](const Item& item, const PGresult* result) { take(item, result, turn); });
}

void PostgresSession::take(const Item& item, const PGresult* result, Turn& turn) {
    const ExecStatusType status = PQresultStatus(result);
    if (succeeded(result)) {
        const std::string_view tag = PQcmdStatus(const_cast<PGresult*>(result));
        if (item.step == Step::begin && tag != "BEGIN") turn.ran_outside = true;
        if ((item.step == Step::awaited || item.step == Step::statement) &&
            (tag == "COMMIT" || tag == "PREPARE TRANSACTION"))
            turn.ran_outside = true;
        if (item.step == Step::awaited && PQbinaryTuples(result) == 1 && !readable_in_binary(result)) {
            // A pooler that prepares by itself has prepared it anew, over a table that was altered.
            pipeline_.prepare_again(item);
            turn.error_is_final = true;
            turn.error = Error{.fault = Fault::conflict,
                               .message = "a table was altered under a prepared statement, which is prepared again",
                               .native = {},
                               .cause = {}};
        } else if (item.step == Step::awaited)
            turn.rows = rows_from(result);
        else if (item.step == Step::mark)
            take_mark(result);
        else if (item.step == Step::commit)
            turn.commit_tag = tag;
        else if (item.step == Step::limits)
            limits_in_force_ = limits_queued_;
        return;
    }
    if (status == PGRES_PIPELINE_ABORTED || (item.step == Step::housekeeping && is_plain_error(result))) return;
    if (turn.error && !turn.error_is_ahead) return;
    if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE) {
        // An error of an earlier statement is an answer only if the server itself gave it and goes on.
        turn.error_is_final = is_plain_error(result);
        const bool doubtful = pipeline_.commit_sent() && (item.step == Step::commit || !turn.error_is_final);
        turn.error = failed(item, result, doubtful ? Phase::commit : Phase::transaction);
        // The limits of a session have a segment of their own: COMMIT behind it is carried out all the same, unless
        // something of the transaction fails too.
        turn.error_is_ahead = turn.error_is_final && item.step == Step::limits && direct_ && !borrowed_;
        if (pipeline_.commit_sent() && (turn.error_is_ahead || item.step == Step::sync))
            turn.error->fault = Fault::unknown;
        return;
    }
    // The server finishes COPY TO STDOUT and goes on to a COMMIT behind it.
    turn.error = Error{.fault = pipeline_.commit_sent() ? Fault::unknown : Fault::rejected,
                       .message = "COPY does not work inside a transaction of semel's",
                       .native = {},
                       .cause = {}};
}

Error PostgresSession::failed(const Item& item, const PGresult* result, Phase phase) {
    Error error = error_from(result, phase);
    if (about_our_name(item, pipeline_.prefix_of_names(), result)) {
        pipeline_.stop_using_names();
        error.fault = Fault::conflict;
        error.message =
            "a prepared statement was lost on the way to the server; from now on none is used on this session";
    } else if (item.named && about_changed_columns(result)) {
        pipeline_.prepare_again(item);
        error.fault = Fault::conflict;
        error.message = "a table was altered under a prepared statement, which is prepared again";
    } else if (error.cause.code == "25006" && transaction_.access == Access::read_only) {
        error.fault = Fault::rejected;
        error.message = "a read-only transaction cannot write";
        error.cause.hint.clear();
    }
    return error;
}

void PostgresSession::take_mark(const PGresult* result) {
    const std::string_view number = field_of(result, 0);
    std::uint64_t transaction = 0;
    std::from_chars(number.data(), number.data() + number.size(), transaction);
    mark_.transaction = transaction;
    if (PQnfields(result) > 1) mark_.identity = Identity::from(result, 1);
    mark_.taken = mark_.identity ? mark_.identity->known() : identity_.known();
    mark_current_ = true;
}

Mark PostgresSession::mark() const {
    if (!mark_.taken) return {};
    const Identity& identity = mark_.identity ? *mark_.identity : identity_;
    return {.taken = true,
            .transaction = mark_.transaction,
            .history = identity.history,
            .incarnation = identity.incarnation,
            .process = mark_.identity ? std::string() : process_};
}

Error PostgresSession::give_up(Wait wait, Turn& turn, Deadline deadline) {
    Error error;
    if (turn.ran_outside || (wait == Wait::ready && !turn.error)) {
        error.fault = Fault::broken;
        error.message = "a statement ended the transaction by itself; what it did cannot be undone";
        error.cause.hint = "leave BEGIN, COMMIT and ROLLBACK to the transaction";
        in_doubt_ = true;  // Part of it may be durable, and the mark is not its own.
        mark_ = {};
        close();
    } else if (wait == Wait::deadline) {
        pipeline_.wire().cancel();
        error.fault = Fault::rejected;
        error.message =
            "the deadline passed before the server answered; the statement was cancelled and nothing was committed";
        error.cause.timeout = Timeout::total;
        close();
    } else if (turn.error) {
        error = *std::move(turn.error);
        const bool read_only_mistake = error.cause.code == "25006" && error.fault == Fault::rejected;
        const bool code_closes = !error.cause.code.empty() && closes_session(error.cause.code) && !read_only_mistake;
        if (wait != Wait::ready || !turn.error_is_final || code_closes) close();
        if (error.cause.timeout == Timeout::statement && deadline.passed(clock_->now()))
            error.cause.timeout = Timeout::total;
        if (state_ != SessionState::closed) state_ = SessionState::failed;
    } else {
        const Wire& wire = pipeline_.wire();
        error = error_from_code(wire.fatal_code(), wire.last_words(), Phase::transaction);
        close();
    }
    first_failure_ = fail(Error(error));
    return error;
}

}  // namespace semel::postgres
