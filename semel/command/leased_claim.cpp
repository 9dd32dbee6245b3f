#include "semel/command/leased_claim.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/command/leased_run.hpp"

namespace semel::detail {

LeasedClaim::LeasedClaim(LeasedExecutor& executor, const LeasedOperation& operation, const Command& command,
                         BytesView payload)
    : executor_(&executor),
      database_(&executor.database()),
      operation_(&operation),
      command_(&command),
      payload_(payload),
      claim_(executor.executor().statements(), command.identity, command.fingerprint),
      owner_(new_owner(database_->random())) {
    const Instant now = database_->clock().now();
    const LeasedOptions& options = operation.options;
    deadline_ = command.deadline.is_never() ? Deadline::after(now, database_->deadline_default()) : command.deadline;
    wait_until_ =
        options.in_progress == InProgress::wait ? deadline_.within(now, options.in_progress_wait) : Deadline::at(now);
}

Outcome<Answer> LeasedClaim::run() {
    for (;;) {
        Outcome<> claimed = claim();
        SEMEL_FAILPOINT("lease.after_claim");
        if (claimed.committed())
            return go_on({.identity = command_->identity.digest(), .epoch = 1, .owner = owner_}, 1);
        in_doubt_ = in_doubt_ || claimed.unknown();
        Error error = std::move(claimed).error();
        const auto verdict = verdict_of(error);
        if (!verdict) return not_done(std::move(error));
        // Read from the record itself: no flush of ours can pass it.
        if (*verdict == ClaimVerdict::mismatch || *verdict == ClaimVerdict::expired ||
            *verdict == ClaimVerdict::needs_reconciliation)
            return NotCommitted{refusal(*verdict)};
        const auto seen = see(*executor_, command_->identity.digest(), deadline_);
        if (!seen) return not_done(seen.error());
        if (auto answer = answer_from(*seen)) return *std::move(answer);
    }
}

Outcome<> LeasedClaim::claim() {
    TransactOptions options;
    options.transaction.marked = false;
    options.deadline = deadline_;
    options.lost_commit = LostCommit::rerun;
    return transact(*database_, options, [this](Transaction& tx) -> Status {
        const Identity& identity = command_->identity;
        const LeaseStatements& statements = executor_->statements();
        tx.post(statements.claim_guard, BytesView(identity.digest()), identity.lock(), claim_.stored_fingerprint());
        SEMEL_FAILPOINT("lease.before_claim");
        tx.post(statements.claim, BytesView(identity.digest()), claim_.stored_fingerprint(), identity.tenant(),
                identity.caller(), identity.operation(), identity.key(), payload_, owner_, command_->correlation_id,
                milliseconds(operation_->options.lease));
        return {};
    });
}

std::optional<Outcome<Answer>> LeasedClaim::answer_from(const Seen& seen) {
    if (!seen.record) return wait_or_refuse();
    const ClaimVerdict verdict = verdict_of(seen.record, command_->fingerprint);
    if (verdict == ClaimVerdict::replay) return answer_with(*executor_, *command_, *seen.record, Standing::replayed);
    if (verdict != ClaimVerdict::in_progress) return NotCommitted{refusal(verdict)};
    if (seen.record->state == CommandState::processing && seen.lease.owner == owner_)
        return go_on({.identity = command_->identity.digest(), .epoch = seen.lease.epoch, .owner = owner_},
                     seen.lease.attempts);
    if (seen.record->state != CommandState::failed_transient) return wait_or_refuse();
    if (seen.lease.due_in > Duration::zero()) {
        Error error = refusal(ClaimVerdict::in_progress);
        error.cause.retry_after = seen.lease.due_in;
        return NotCommitted{std::move(error)};
    }
    Lease lease;
    std::int64_t attempts = 0;
    const Outcome<> taken = retake(lease, attempts);
    if (taken.committed()) return go_on(lease, attempts);
    in_doubt_ = in_doubt_ || taken.unknown();
    if (verdict_of(taken.error())) return wait_or_refuse();
    return not_done(taken.error());
}

Outcome<> LeasedClaim::retake(Lease& lease, std::int64_t& attempts) {
    TransactOptions options;
    options.transaction.marked = false;
    options.deadline = deadline_;
    options.lost_commit = LostCommit::rerun;
    const Digest& identity = command_->identity.digest();
    return transact(*database_, options, [&](Transaction& tx) -> Status {
        const auto found = SEMEL_TRY(look(tx, executor_->statements(), identity));
        if (!found) return fail(refusal(ClaimVerdict::in_progress));
        lease = {.identity = identity, .epoch = found->epoch, .owner = owner_};
        attempts = found->attempts;
        if (found->state == CommandState::processing && found->owner == owner_) return {};  // It had arrived.
        if (found->state != CommandState::failed_transient || found->due_in > Duration::zero())
            return fail(refusal(ClaimVerdict::in_progress));
        ++lease.epoch;
        ++attempts;
        SEMEL_FAILPOINT("lease.before_retake");
        tx.post_expecting(1, executor_->statements().retake, BytesView(identity), found->epoch, owner_,
                          milliseconds(operation_->options.lease));
        return {};
    });
}

std::optional<Outcome<Answer>> LeasedClaim::wait_or_refuse() {
    Clock& clock = database_->clock();
    const Deadline until = in_doubt_ ? deadline_ : wait_until_;
    constexpr PolicySpec pace{.base = std::chrono::milliseconds(5), .cap = std::chrono::milliseconds(100)};
    const Instant next = clock.now() + backoff_.next(pace, false, database_->random());
    if (until.passed(next)) return not_done(refusal(ClaimVerdict::in_progress));
    std::ignore = clock.sleep(next, {});
    return std::nullopt;
}

Outcome<Answer> LeasedClaim::go_on(const Lease& lease, std::int64_t attempts) {
    return LeasedRun(*executor_, *operation_, *command_, payload_, lease, attempts).run();
}

Outcome<Answer> LeasedClaim::not_done(Error error) const {
    if (in_doubt_) return Unknown{std::move(error)};
    return NotCommitted{std::move(error)};
}

}  // namespace semel::detail
