#include "semel/db/transact.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/mutant.hpp"
#include "semel/retry/backoff.hpp"
#include "semel/retry/schedule.hpp"

#include <algorithm>
#include <string_view>

namespace semel::detail {
namespace {

Error breaker_is_open(Duration for_how_long) {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "the database kept failing and is left alone for a moment; nothing was sent";
    error.cause.retry_after = for_how_long;
    return error;
}

/// What a planted bug takes a lost answer to COMMIT for.
[[maybe_unused]] Error unheard() {
    Error error;
    error.fault = Fault::conflict;
    error.message = "no answer to COMMIT";
    return error;
}

Error out_of_time(std::string_view what_not) {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "too little time is left before the deadline; nothing was ";
    error.message += what_not;
    error.cause.timeout = Timeout::total;
    error.cause.stop = Stop::deadline;
    return error;
}

/// The policy, but no rerun that would have less than `attempt_min`.
Policy with_time_to_finish(const Policy& policy) {
    PolicySpec spec = policy.spec();
    spec.expected_attempt = std::max(spec.expected_attempt, attempt_min);
    return Policy::create(spec).value();
}

/// The attempts of one call, one after the other.
class Operation {
public:
    Operation(Database& database, const TransactOptions& options, const Body& body)
        : database_(&database),
          options_(&options),
          body_(&body),
          policy_(with_time_to_finish(options.retry ? *options.retry : database.retry())),
          started_(database.clock().now()),
          deadline_(options.deadline.is_never() ? Deadline::after(started_, database.deadline_default())
                                                : options.deadline),
          schedule_(policy_, started_, deadline_) {}

    Outcome<> run() {
        if (deadline_.remaining(started_) < attempt_min) return NotCommitted{out_of_time("sent")};
        database_->budget().on_attempt(started_);
        for (;;) {
            Outcome<> outcome = attempt();
            if (outcome.unknown() && SEMEL_MUTANT("unknown_commit_is_success")) return Committed<void>{};
            if (outcome.unknown() && SEMEL_MUTANT("retry_after_unknown_commit")) outcome = NotCommitted{unheard()};
            if (outcome.committed()) return outcome;
            if (outcome.unknown()) {
                if (lost_commit_ == LostCommit::resolve)
                    outcome = resolve(std::move(outcome).error());
                else
                    progress_.in_doubt = true;
                if (outcome.committed() || (outcome.unknown() && !progress_.in_doubt)) return outcome;
            }
            Error error = std::move(outcome).error();
            if (auto last = wait_or_stop(error)) return give_up(*std::move(last));
            ++progress_.number;
        }
    }

private:
    /// A step that the database has a part in begins; false if there is no time to finish it.
    [[nodiscard]] bool begin_step(Instant now) {
        left_for_step_ = deadline_.remaining(now);
        return left_for_step_ >= attempt_min;
    }

    /// One whole transaction on a session that is back in the pool when this returns.
    Outcome<> attempt() {
        Clock& clock = database_->clock();
        const Instant now = clock.now();
        Breaker::Permit permit = database_->breaker().acquire(now);
        if (!permit) return NotCommitted{breaker_is_open(database_->breaker().admits_in(now))};
        left_for_step_ = deadline_.remaining(now);
        auto loan = database_->pool().acquire(deadline_, options_->stop, options_->place);
        Outcome<> outcome = loan ? attempt_on(**loan) : Outcome<>(NotCommitted{std::move(loan).error()});
        if (outcome.committed())
            permit.succeeded();
        else if (tells_of_the_database(outcome.error()))
            permit.failed(outcome.error(), clock.now());
        return outcome;  // A permit without a report comes back as if it had not been given.
    }

    /// False for the timeout of a step that was left too little time for any database.
    [[nodiscard]] bool tells_of_the_database(const Error& error) const {
        return error.cause.timeout == Timeout::none || left_for_step_ >= database_->fair_time();
    }

    Outcome<> attempt_on(Session& session) {
        Clock& clock = database_->clock();
        // Waiting for the session may have taken the time.
        if (!begin_step(clock.now())) return NotCommitted{out_of_time("sent")};
        Transaction tx(session, options_->transaction, deadline_);
        Status done = (*body_)(tx, progress_);
        if (done && !begin_step(clock.now())) done = fail(out_of_time("committed"));
        if (!done) {
            // What the body concluded from rows that were themselves undone is void.
            Status undone = std::move(tx).rollback();
            if (!undone && undone.error().fault == Fault::unknown) return in_part(std::move(done).error());
            const bool void_conclusion = !undone && undone.error().fault == Fault::conflict;
            return NotCommitted{void_conclusion ? std::move(undone).error() : std::move(done).error()};
        }
        lost_commit_ = tx.settled_by_rerun() ? LostCommit::rerun : options_->lost_commit;
        SEMEL_FAILPOINT("transact.before_commit");
        Outcome<> outcome = std::move(tx).commit();
        SEMEL_FAILPOINT("transact.after_commit");
        if (outcome.unknown()) mark_ = session.mark();
        // A commit that was refused can leave the transaction open. If undoing it fails too, the
        // session is closed, which undoes it as well; only a void conclusion changes the answer.
        if (outcome.not_committed() && session.state() != SessionState::idle) {
            Status undone = session.rollback(deadline_);
            if (!undone && undone.error().fault == Fault::conflict)
                outcome = NotCommitted{std::move(undone).error()};
            else if (!undone && undone.error().fault == Fault::unknown)
                outcome = in_part(std::move(outcome).error());
        }
        return outcome;
    }

    /// A statement of the body's committed by itself: part of the work may be there for good, and no mark tells which.
    Outcome<> in_part(Error error) {
        mark_ = {};
        return Unknown{std::move(error)};
    }

    /// What became of the transaction behind `mark_`: committed, not committed (and free to rerun),
    /// or still unknown when the deadline comes.
    Outcome<> resolve(Error lost) {
        if (!mark_.taken && !options_->resolve) return Unknown{std::move(lost)};
        Clock& clock = database_->clock();
        Backoff backoff;
        for (;;) {
            auto answer = ask();
            if (answer && *answer == Resolution::committed) return Committed<void>{};
            if (answer && *answer == Resolution::unknown) return Unknown{std::move(lost)};
            if (answer) {
                lost.fault = Fault::conflict;
                lost.cause.timeout = Timeout::none;  // It was COMMIT's own limit, not the operation's.
                return NotCommitted{
                    std::move(lost).within("the answer to COMMIT was lost, the transaction was found not committed")};
            }
            const Instant now = clock.now();
            const Instant next = now + backoff.next(policy_.spec(), false, database_->random());
            if (deadline_.passed(next)) return Unknown{std::move(lost).within(answer.error().message)};
            if (clock.sleep(next, options_->stop) == Wake::stopped) return Unknown{std::move(lost)};
        }
    }

    Result<Resolution> ask() {
        if (deadline_.remaining(database_->clock().now()) < attempt_min) return fail(out_of_time("asked"));
        auto loan =
            SEMEL_TRY(database_->pool().acquire(deadline_, options_->stop, options_->place, Pool::Wants::fresh));
        return options_->resolve ? options_->resolve(*loan, mark_, deadline_) : loan->resolve(mark_, deadline_);
    }

    /// Waits for the next attempt; or returns the error to end with.
    std::optional<Error> wait_or_stop(Error& error) {
        Clock& clock = database_->clock();
        // Whatever is not committed may be repeated; in doubt, the body's identity makes it safe.
        const Repeat repeat = progress_.in_doubt ? Repeat::safe : Repeat::unsafe;
        Decision decision = schedule_.on_failure(error, repeat, clock.now(), database_->budget(), database_->breaker(),
                                                 database_->random());
        if (decision.retry() && clock.sleep(clock.now() + decision.delay, options_->stop) == Wake::stopped)
            decision.stop = Stop::stopped;
        if (decision.retry()) return std::nullopt;
        if (error.cause.timeout == Timeout::total)
            decision.stop = Stop::deadline;  // Whatever else would speak against it.
        return stopped(std::move(error), schedule_, decision);
    }

    /// A later attempt that failed for certain does not settle an earlier one that is in doubt.
    Outcome<> give_up(Error error) const {
        if (progress_.in_doubt) return Unknown{std::move(error)};
        return NotCommitted{std::move(error)};
    }

    Database* database_;
    const TransactOptions* options_;
    const Body* body_;
    Policy policy_;
    Instant started_;
    Deadline deadline_;
    Schedule schedule_;
    Attempt progress_;
    Mark mark_;
    Duration left_for_step_{};  ///< Before the deadline, when the step began that the attempt ended with.
    LostCommit lost_commit_ = LostCommit::resolve;
};

}  // namespace

Outcome<> transact(Database& database, const TransactOptions& options, const Body& body) {
    return Operation(database, options, body).run();
}

}  // namespace semel::detail
