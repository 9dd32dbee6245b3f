#include "semel/command/leased_run.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/log.hpp"

#include <algorithm>
#include <exception>

namespace semel::detail {
namespace {

constexpr Duration ending_min = std::chrono::seconds(10);

Error threw(std::string_view what) {
    Error error;
    error.fault = Fault::broken;
    error.message = "the handler threw an exception";
    error.native = what;
    return error;
}

template <class F>
auto guarded(F&& act) -> decltype(act()) {
    try {
        return act();
    } catch (const std::exception& exception) {
        return fail(threw(exception.what()));
    } catch (...) {
        return fail(threw("something that is no std::exception"));
    }
}

constexpr std::string_view by_choice = "by choice";

/// Makes `transact` roll back; never leaves this file.
Error rolled_back_by_choice() {
    Error error;
    error.fault = Fault::rejected;
    error.message = "the handler refused the command";
    error.cause.code = by_choice;
    return error;
}

bool transient(const Error& error) noexcept {
    return error.fault == Fault::conflict || error.fault == Fault::unavailable || error.fault == Fault::throttled;
}

}  // namespace

LeasedRun::LeasedRun(LeasedExecutor& executor, const LeasedOperation& operation, const Command& command,
                     BytesView payload, const Lease& lease, std::int64_t attempts)
    : executor_(&executor),
      database_(&executor.database()),
      statements_(&executor.statements()),
      options_(&operation.options),
      handler_(&operation.handler),
      command_(&command),
      payload_(payload),
      lease_(lease),
      attempts_(attempts) {}

Outcome<Answer> LeasedRun::run() {
    SEMEL_FAILPOINT("lease.before_run");
    LeasedWork work(*database_, *statements_, lease_, *command_, payload_, attempts_, *options_);
    Result<Finish> ended = guarded([&] { return (*handler_)(work); });
    if (!ended) return conclude(std::move(ended).error(), work.store_failure());
    return finish(*ended);
}

Outcome<Answer> LeasedRun::give_up(Error error) { return end_badly(std::move(error)); }

Result<CommandDecision> LeasedRun::call_decide(const Finish& finish, Work& work) const {
    return guarded([&] { return finish.decide()(work); });
}

Deadline LeasedRun::ending() const {
    if (command_->deadline.is_never()) return {};
    return std::max(command_->deadline, Deadline::after(database_->clock().now(), ending_min));
}

Outcome<> LeasedRun::write(const std::function<Status(Transaction&)>& body) {
    return fenced(*database_, *statements_, lease_, ending(), body);
}

Outcome<Answer> LeasedRun::finish(const Finish& finish) {
    TransactOptions options;
    options.transaction = options_->transaction;
    options.transaction.marked = false;
    options.deadline = ending();
    // The record's state decides: after a lost COMMIT it runs again, and stops at the fence if the first had arrived.
    options.lost_commit = LostCommit::rerun;
    const Instant begun = database_->clock().now();
    StoreFailure store;
    Outcome<> outcome = transact(*database_, options, [&](Transaction& tx, const Attempt& attempt) {
        Status done = finish_in(tx, attempt, finish);
        store.on_body(tx, !done);
        return done;
    });
    store.on_outcome(outcome);
    SEMEL_FAILPOINT("lease.after_finish");
    if (outcome.committed()) {
        remember(*reply_, begun);
        executor_->executor().executed();
        return Committed<Answer>{{*std::move(reply_), Standing::executed}};
    }
    // A refusal that was rolled back with a lost group was void, and what came after it may have failed otherwise.
    if (rejection_ && outcome.error().cause.code == by_choice) return store_rejection(*rejection_);
    if (outcome.unknown()) return conclude_from_record(std::move(outcome).error());
    return conclude(std::move(outcome).error(), store);
}

Status LeasedRun::finish_in(Transaction& tx, const Attempt& attempt, const Finish& finish) {
    reply_.reset();
    rejection_.reset();
    post_fence(tx, *statements_, lease_);
    Outbox outbox(executor_->executor().append_statements(), command_->identity.tenant(), database_->clock(),
                  database_->random(), &executor_->executor().check_event());
    Work work{.tx = tx, .outbox = outbox, .command = *command_, .attempt = attempt};
    Result<CommandDecision> decided = call_decide(finish, work);
    if (decided && !outbox.checked()) decided = fail(outbox.checked().error());
    // What the database said outranks whatever was made of it.
    if (tx.failure() != nullptr && (decided || fence_lost(*tx.failure()))) return fail(Error(*tx.failure()));
    if (!decided) return fail(std::move(decided).error());
    if (auto* rejection = std::get_if<Rejection>(&*decided)) {
        rejection_ = std::move(*rejection);
        return fail(rolled_back_by_choice());
    }
    reply_ = std::get<Reply>(*std::move(decided));
    outbox.post_to(tx);
    SEMEL_FAILPOINT("lease.before_finish");
    return post_end(tx, CommandState::succeeded, *reply_, "");
}

Status LeasedRun::post_end(Transaction& tx, CommandState state, const Reply& reply, std::string_view error) {
    SEMEL_ASSERT(allowed(CommandState::processing, state) && finished(state));
    const std::string headers = SEMEL_TRY(encode_headers(reply.headers));
    Journal(statements_->call).leave(tx, lease_.identity);
    tx.post_expecting(1, statements_->finish, BytesView(lease_.identity), lease_.epoch, lease_.owner, name(state),
                      reply.status, headers, bytes_of(reply.body), milliseconds(options_->retention), kept_text(error));
    return {};
}

Outcome<Answer> LeasedRun::store_rejection(const Rejection& rejection) {
    const Instant begun = database_->clock().now();
    Outcome<> outcome = write([&](Transaction& tx) -> Status {
        SEMEL_FAILPOINT("lease.before_rejection");
        return post_end(tx, CommandState::failed, rejection.reply, "");
    });
    if (!outcome.committed()) return not_stored(std::move(outcome), rolled_back_by_choice());
    remember(rejection.reply, begun);
    return Committed<Answer>{{rejection.reply, Standing::rejected}};
}

void LeasedRun::remember(const Reply& reply, Instant begun) const {
    // The record's time began to run some time after `begun`.
    executor_->executor().remember(*command_, reply, options_->retention - (database_->clock().now() - begun));
}

Outcome<Answer> LeasedRun::conclude(Error error, const StoreFailure& store) {
    of_store_ = store.is(error);
    error = judged(std::move(error), of_store_);
    if (fence_lost(error)) return conclude_from_record(std::move(error));
    if (error.fault == Fault::unknown) return leave_to_sweeper(std::move(error));
    if (transient(error) && attempts_ < options_->attempts_max) return try_later(std::move(error));
    return end_badly(std::move(error));
}

Outcome<Answer> LeasedRun::leave_to_sweeper(Error error) {
    Outcome<> outcome = write([&](Transaction& tx) -> Status {
        Duration wait = delay(error);
        const auto calls = SEMEL_TRY(Journal(statements_->call).list(tx, lease_.identity));
        for (const Call& call : calls)
            if (call.unfinished()) wait = std::max(wait, call.ends_in + options_->ask.grace);
        SEMEL_FAILPOINT("lease.before_yield");
        tx.post_expecting(1, statements_->yield, BytesView(lease_.identity), lease_.epoch, lease_.owner,
                          milliseconds(wait), kept_text(error.message));
        return {};
    });
    // If it was not stored, the lease ends by itself, only later.
    if (!outcome.committed() && fence_lost(outcome.error())) return conclude_from_record(std::move(error));
    return Unknown{std::move(error)};
}

Outcome<Answer> LeasedRun::try_later(Error error) {
    const Duration wait = delay(error);
    Outcome<> outcome = write([&](Transaction& tx) -> Status {
        SEMEL_FAILPOINT("lease.before_fail_later");
        tx.post_expecting(1, statements_->fail_later, BytesView(lease_.identity), lease_.epoch, lease_.owner,
                          milliseconds(wait), kept_text(error.message));
        return {};
    });
    error.cause.retry_after = wait;
    if (!outcome.committed()) return not_stored(std::move(outcome), std::move(error));
    return NotCommitted{std::move(error)};
}

Outcome<Answer> LeasedRun::end_badly(Error error) {
    const Reply reply = reply_for(error);
    bool for_a_person = false;
    Outcome<> outcome = write([&](Transaction& tx) -> Status {
        const Journal journal(statements_->call);
        const auto calls = SEMEL_TRY(journal.list(tx, lease_.identity));
        const Rows steps = SEMEL_TRY(tx.execute(statements_->step_count, BytesView(lease_.identity)));
        const bool wrote = SEMEL_TRY(steps.scalar<std::int64_t>()) != 0;
        const bool happened =
            wrote || std::ranges::any_of(calls, [](const Call& call) { return call.status != CallStatus::failed; });
        SEMEL_FAILPOINT("lease.before_end");
        for_a_person = happened || error.fault == Fault::broken;
        if (!for_a_person) return post_end(tx, CommandState::failed, reply, error.message);
        journal.leave(tx, lease_.identity);
        tx.post_expecting(1, statements_->reconcile, BytesView(lease_.identity), lease_.epoch, lease_.owner,
                          kept_text(error.message));
        return {};
    });
    if (!outcome.committed()) return not_stored(std::move(outcome), std::move(error));
    if (!for_a_person) return Committed<Answer>{{reply, Standing::rejected}};
    Error refused = refusal(ClaimVerdict::needs_reconciliation);
    refused.native = error.describe();
    return NotCommitted{std::move(refused)};
}

Outcome<Answer> LeasedRun::not_stored(Outcome<> outcome, Error error) {
    if (outcome.unknown() || fence_lost(outcome.error())) return conclude_from_record(std::move(error));
    // Nothing was stored; the lease ends by itself, and the sweeper goes on.
    return Unknown{std::move(outcome).error().within(error.message)};
}

Outcome<Answer> LeasedRun::conclude_from_record(Error error) {
    const auto seen = see(*executor_, lease_.identity, ending());
    if (!seen) return Unknown{std::move(error)};
    if (!seen->record) return Unknown{std::move(error)};
    const bool ours = seen->lease.epoch == lease_.epoch && seen->lease.owner == lease_.owner;
    switch (verdict_of(seen->record, command_->fingerprint)) {
        case ClaimVerdict::replay: {
            const Standing standing = !ours                                            ? Standing::replayed
                                      : seen->record->state == CommandState::succeeded ? Standing::executed
                                                                                       : Standing::rejected;
            return answer_with(*executor_, *command_, *seen->record, standing);
        }
        case ClaimVerdict::needs_reconciliation: return NotCommitted{refusal(ClaimVerdict::needs_reconciliation)};
        case ClaimVerdict::expired: return NotCommitted{refusal(ClaimVerdict::expired)};
        case ClaimVerdict::execute:
        case ClaimVerdict::mismatch:
        case ClaimVerdict::in_progress: break;
    }
    // Ours and still open: what was sent may yet arrive, and if not, the sweeper goes on.
    if (ours && seen->record->state == CommandState::processing) return Unknown{std::move(error)};
    if (ours) return NotCommitted{std::move(error)};
    return NotCommitted{refusal(ClaimVerdict::in_progress)};
}

Duration LeasedRun::delay(const Error& error) const {
    const bool throttled = error.fault == Fault::throttled;
    const Duration drawn = delay_after(attempts_, options_->backoff, throttled, database_->random());
    return std::max(drawn, std::min(error.cause.retry_after.value_or(Duration()), options_->backoff.cap));
}

Reply LeasedRun::reply_for(const Error& error) const {
    if (options_->refuse) {
        const auto worded = guarded([&]() -> Result<Reply> {
            Reply reply = options_->refuse(error, *command_);
            SEMEL_TRY(encode_headers(reply.headers));
            return reply;
        });
        if (worded) return *worded;
        log(LogLevel::error,
            "command " + command_->identity.command_id() +
                ": `refuse` of its operation failed, the default is told: " + worded.error().describe());
    }
    return default_refusal(error, of_store_, command_->correlation_id);
}

}  // namespace semel::detail
