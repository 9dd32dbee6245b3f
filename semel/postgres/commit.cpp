// How a PostgresSession ends a transaction, and when it may say that it committed.

#include "semel/base/failpoint.hpp"
#include "semel/postgres/failure_table.hpp"
#include "semel/postgres/session.hpp"

#include <libpq-fe.h>

#include <algorithm>

namespace semel::postgres {
namespace {

Error not_answered(std::string_view message, Timeout timeout) {
    Error error;
    error.fault = Fault::unknown;
    error.message = message;
    error.cause.timeout = timeout;
    return error;
}

}  // namespace

Outcome<> PostgresSession::commit(Deadline deadline) {
    if (Status fit = usable(deadline); !fit) {
        if (in_doubt_) return Unknown{std::move(fit).error()};
        // Nothing of this transaction was committed, and nothing of it will be.
        if (state_ == SessionState::failed) (void)rollback(deadline);
        return NotCommitted{std::move(fit).error()};
    }
    if (!begun_ && !posted_) {
        ended();
        mark_.taken = true;  // Nothing was sent, so nothing was written.
        return Committed<void>{};
    }
    const bool writes = transaction_.access == Access::read_write;
    bool just_answered = false;
    if (!queue_failure_ || (transaction_.marked && writes && (posted_ || (wants_mark() && !mark_current_)))) {
        const Result<Rows> answered = send_and_wait(deadline);
        if (!answered) {
            Error error = answered.error();
            if (in_doubt_) return Unknown{std::move(error)};
            if (state_ == SessionState::failed) (void)rollback(deadline);
            return NotCommitted{std::move(error)};
        }
        just_answered = true;
    }
    if (!writes) mark_.taken = true;
    return send_commit(deadline, just_answered);
}

Outcome<> PostgresSession::send_commit(Deadline deadline, bool just_answered) {
    SEMEL_FAILPOINT("postgres.before_commit");
    // A connection that is known to be dead must not turn into a doubt. It is not looked at again right behind an answer.
    if (!just_answered && !pipeline_.wire().alive()) {
        const Wire& wire = pipeline_.wire();
        Error error = error_from_code(wire.fatal_code(), wire.last_words(), Phase::transaction);
        close();
        first_failure_ = fail(Error(error));
        return NotCommitted{std::move(error)};
    }
    // Statements in the same flush have their own limits; COMMIT by itself has its own.
    const Instant now = clock_->now();
    const Duration half = deadline.remaining(now) / 2;
    const Deadline answer_by = deadline.within(now, posted_ ? half : std::min(transaction_.commit_timeout, half));
    // Under a name where there are names: parsing it anew is a twentieth of what a small transaction costs the server.
    // If the name is lost, COMMIT fails and with it the transaction, which is an answer.
    const Status added = pipeline_.add(Step::commit, "COMMIT", {});
    SEMEL_ASSERT(added);
    Turn turn;
    const Wait wait = exchange(turn, answer_by);
    SEMEL_FAILPOINT("postgres.after_commit");
    return commit_outcome(wait, turn, answer_by);
}

Outcome<> PostgresSession::commit_outcome(Wait wait, Turn& turn, Deadline deadline) {
    if (turn.ran_outside) return Unknown{give_up(wait, turn, deadline)};
    const bool warned = pipeline_.warnings_of_last_step() > 0;
    if (turn.commit_tag == "COMMIT" && turn.error_is_ahead && !limits_in_force_) {
        Error error = not_answered(
            "COMMIT was answered, but the server had refused the session's settings: whether it waits until a "
            "commit is durable is not known",
            Timeout::none);
        error.native = turn.error->native;
        error.cause = turn.error->cause;
        in_doubt_ = true;
        close();
        return Unknown{std::move(error)};
    }
    if (turn.commit_tag == "COMMIT" && !warned) {
        // The tag is the promise; a connection that breaks behind it changes nothing.
        ended();
        if (wait != Wait::ready || PQtransactionStatus(pipeline_.wire().connection()) != PQTRANS_IDLE) close();
        return Committed<void>{};
    }
    if (turn.commit_tag == "COMMIT") {
        // The wait for the synchronous standby was cut short (the commit is there, but might not
        // survive a failover), or there was no transaction to commit.
        Error error = not_answered("COMMIT was answered with a warning: it may not survive a failover", Timeout::none);
        error.native = pipeline_.wire().last_warning();
        in_doubt_ = true;
        close();
        return Unknown{std::move(error)};
    }
    if (turn.commit_tag == "ROLLBACK") {
        Error error{.fault = Fault::conflict,
                    .message = "the server rolled the transaction back at COMMIT",
                    .native = {},
                    .cause = {}};
        if (!first_failure_) error = first_failure_.error();
        ended();
        return NotCommitted{std::move(error)};
    }
    if (turn.error && turn.error->fault != Fault::unknown) {
        // The server answered: an error before COMMIT made it skip COMMIT, an error at COMMIT undid
        // the transaction.
        Error error = give_up(wait, turn, deadline);
        if (state_ == SessionState::failed) (void)rollback(deadline);
        return NotCommitted{std::move(error)};
    }
    if (!pipeline_.commit_sent() && !turn.error) {
        Error error = give_up(wait, turn, deadline);
        return NotCommitted{std::move(error)};
    }
    in_doubt_ = true;
    Error error = turn.error               ? *std::move(turn.error)
                  : wait == Wait::deadline ? not_answered("COMMIT was not answered in time", Timeout::read)
                                           : lost_connection(pipeline_.wire().last_words(), Phase::commit);
    // Never cancelled: a cancel that meets the wait for a standby would commit without it.
    close();
    return Unknown{std::move(error)};
}

}  // namespace semel::postgres
