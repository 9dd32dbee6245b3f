#include "semel/command/execution.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/mutant.hpp"
#include "semel/retry/blocking.hpp"

#include <algorithm>
#include <exception>

namespace semel::detail {
namespace {

/// A business key that is violated again by whoever was to decide on its violation is not decided.
constexpr int natural_keys_max = 3;

Error threw(std::string_view what) {
    Error error;
    error.fault = Fault::broken;
    error.message = "the handler threw an exception; nothing of it was kept";
    error.native = what;
    return error;
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

}  // namespace

Execution::Execution(Executor& executor, const Command& command, const CommandOptions& options, const Handler& handler)
    : executor_(&executor),
      database_(&executor.database()),
      command_(&command),
      options_(&options),
      handler_(&handler),
      claim_(executor.statements(), command.identity, command.fingerprint),
      begun_(database_->clock().now()) {
    const Instant now = begun_;
    deadline_ = command.deadline.is_never() ? Deadline::after(now, database_->deadline_default()) : command.deadline;
    wait_until_ =
        options.in_progress == InProgress::wait ? deadline_.within(now, options.in_progress_wait) : Deadline::at(now);
}

bool Execution::above_read_committed() const noexcept {
    return options_->transaction.isolation != Isolation::read_committed;
}

/// A repeat is likely to find its reply. Above READ COMMITTED the lookup must not be part of the transaction: its
/// predicate locks would make strangers fail.
bool Execution::looks_first() const noexcept { return command_->attempt > 1 || above_read_committed(); }

Outcome<Answer> Execution::run() {
    if (const auto cached = executor_->cached(*command_)) return Committed<Answer>{{*cached, Standing::replayed}};
    for (;;) {
        if (looks_first()) {
            auto found = look();
            // Of a declared repeat it is not even known whether the one before was done.
            if (!found && command_->attempt > 1) return Unknown{found.error()};
            if (!found) return not_done(found.error());
            if (*found) {
                if (auto answer = answer_from(**std::move(found))) return *std::move(answer);
                continue;
            }
        }
        if (auto answer = conclude(attempt())) return *std::move(answer);
    }
}

Outcome<> Execution::attempt() {
    reply_.reset();
    rejection_.reset();
    found_.reset();
    TransactOptions options;
    options.transaction = options_->transaction;
    options.transaction.marked = false;  // The identity resolves instead.
    options.deadline = deadline_;
    if (command_->owner == RetryOwner::outer) options.retry = Policy::once();
    options.resolve = [this](Session& session, const Mark&, Deadline deadline) { return resolve(session, deadline); };
    return transact(*database_, options,
                    [this](Transaction& tx, const Attempt& attempt) { return execute(tx, attempt); });
}

Status Execution::execute(Transaction& tx, const Attempt& attempt) {
    in_doubt_ = in_doubt_ || attempt.in_doubt;
    reply_.reset();
    rejection_.reset();
    if (above_read_committed() && !SEMEL_MUTANT("lookup_under_serializable"))
        claim_.open_locking_only(tx);
    else
        claim_.open(tx);
    Outbox outbox(executor_->append_statements(), command_->identity.tenant(), database_->clock(), database_->random(),
                  &executor_->check_event());
    Work work{.tx = tx, .outbox = outbox, .command = *command_, .attempt = attempt};
    Result<CommandDecision> decided = call_handler(work);
    if (decided && !outbox.checked()) decided = fail(outbox.checked().error());
    const bool refused = !decided || std::holds_alternative<Rejection>(*decided);
    // A refusal counts only if the command was ours to refuse: ask, if the handler has not done so by waiting.
    if (refused && !tx.sent() && tx.failure() == nullptr) SEMEL_TRY(tx.flush());
    // The claim's verdict outranks whatever the handler made of it.
    if (tx.failure() != nullptr && (verdict_of(*tx.failure()) || decided)) return fail(Error(*tx.failure()));
    if (!decided) return fail(std::move(decided).error());
    if (auto* rejection = std::get_if<Rejection>(&*decided)) {
        rejection_ = std::move(*rejection);
        return fail(rolled_back_by_choice());
    }
    reply_ = std::get<Reply>(*std::move(decided));
    if (attempt.number == 1 || !SEMEL_MUTANT("events_of_first_attempt_only")) outbox.post_to(tx);
    if (SEMEL_MUTANT("cache_before_commit")) remember(*reply_, options_->retention);
    if (SEMEL_MUTANT("record_in_another_transaction")) return {};
    SEMEL_FAILPOINT("command.before_commit");
    return claim_.finish(tx, CommandState::succeeded, *reply_, options_->retention);
}

Result<CommandDecision> Execution::call_handler(Work& work) const {
    try {
        return (*handler_)(work);
    } catch (const std::exception& exception) {
        return fail(threw(exception.what()));
    } catch (...) {
        return fail(threw("something that is no std::exception"));
    }
}

Result<Resolution> Execution::resolve(Session& session, Deadline deadline) {
    TransactionOptions options;
    options.marked = false;
    Transaction tx(session, options, deadline);
    auto found = claim_.wait_and_look(tx);
    Status undone = std::move(tx).rollback();
    if (!found) return fail(std::move(found).error().within("look for the command after its COMMIT was lost"));
    if (!undone) return fail(std::move(undone).error());
    // Only a finished record of this request can be ours. Any other means that ours can never be there.
    if (!*found || (*found)->fingerprint != command_->fingerprint || !finished((*found)->state))
        return Resolution::not_committed;
    found_ = *std::move(found);
    return Resolution::committed;
}

std::optional<Outcome<Answer>> Execution::conclude(Outcome<> outcome) {
    SEMEL_FAILPOINT("command.after_commit");
    if (outcome.committed()) {
        if (found_) return replay(*std::move(found_));
        if (SEMEL_MUTANT("record_in_another_transaction")) std::ignore = store_rejection();
        remember(*reply_, options_->retention);
        executor_->executed();
        return Committed<Answer>{{*std::move(reply_), Standing::executed}};
    }
    in_doubt_ = in_doubt_ || outcome.unknown();
    Error error = std::move(outcome).error();
    if (const auto verdict = verdict_of(error)) return conclude_verdict(*verdict);
    if (above_read_committed()) {
        // The guard only locked. Whoever finished between our look and the lock has decided, whatever the handler
        // made of what it saw.
        auto found = look();
        if (!found) return not_done(found.error());
        if (*found) return answer_from(**std::move(found));
    }
    // A refusal that was rolled back with a lost group was void, and what came after it may have failed otherwise.
    if (rejection_ && error.cause.code == by_choice) return conclude_rejection();
    for (const NaturalKey& natural : options_->natural_keys) {
        if (error.cause.constraint != natural.constraint || ++natural_keys_met_ > natural_keys_max) continue;
        handler_ = &natural.decide;
        return std::nullopt;
    }
    return not_done(std::move(error));
}

std::optional<Outcome<Answer>> Execution::conclude_verdict(ClaimVerdict verdict) {
    // These were read from the record itself, and no flush of ours can pass a record that is there.
    if (verdict == ClaimVerdict::mismatch || verdict == ClaimVerdict::expired ||
        verdict == ClaimVerdict::needs_reconciliation)
        return NotCommitted{refusal(verdict)};
    auto found = look();
    if (!found) return not_done(found.error());
    if (*found) return answer_from(**std::move(found));
    // Gone again: it was rolled back, or retention has just removed it.
    return verdict == ClaimVerdict::in_progress ? conclude_in_progress() : std::nullopt;
}

std::optional<Outcome<Answer>> Execution::answer_from(Record found) {
    const ClaimVerdict verdict = verdict_of(found, command_->fingerprint);
    switch (verdict) {
        case ClaimVerdict::execute: break;
        case ClaimVerdict::replay: return replay(std::move(found));
        case ClaimVerdict::in_progress: return conclude_in_progress();
        case ClaimVerdict::mismatch:
        case ClaimVerdict::expired:
        case ClaimVerdict::needs_reconciliation: return NotCommitted{refusal(verdict)};
    }
    SEMEL_ASSERT(false && "a record never says to execute");
}

std::optional<Outcome<Answer>> Execution::conclude_in_progress() {
    Clock& clock = database_->clock();
    const Deadline until = in_doubt_ ? deadline_ : wait_until_;
    constexpr PolicySpec pace{.base = std::chrono::milliseconds(5), .cap = std::chrono::milliseconds(100)};
    const Instant next = clock.now() + backoff_.next(pace, false, database_->random());
    if (until.passed(next)) return not_done(refusal(ClaimVerdict::in_progress));
    std::ignore = clock.sleep(next, {});
    return std::nullopt;
}

std::optional<Outcome<Answer>> Execution::conclude_rejection() {
    const bool doubted = in_doubt_ && !SEMEL_MUTANT("refusal_after_doubt_not_stored");
    const bool store = doubted || rejection_->replay == Replay::yes;
    if (!store) return Committed<Answer>{{std::move(rejection_->reply), Standing::rejected}};
    Rejection kept = *std::move(rejection_);
    reply_ = kept.reply;
    Outcome<> outcome = store_rejection();
    if (outcome.committed()) {
        remember(kept.reply, options_->retention);
        return Committed<Answer>{{std::move(kept.reply), Standing::rejected}};
    }
    in_doubt_ = in_doubt_ || outcome.unknown();
    // Whoever was faster wins, and is replayed.
    if (const auto verdict = verdict_of(outcome.error())) return conclude_verdict(*verdict);
    return not_done(std::move(outcome).error());
}

Outcome<> Execution::store_rejection() {
    TransactOptions options;
    options.transaction.marked = false;
    options.deadline = deadline_;
    return transact(*database_, options, [this](Transaction& tx) -> Status {
        SEMEL_FAILPOINT("command.before_rejection");
        return claim_.finish(tx, CommandState::failed, *reply_, options_->retention);
    });
}

Outcome<Answer> Execution::replay(Record record) {
    if (record.needs_barrier && !SEMEL_MUTANT("replay_without_barrier")) {
        // Its COMMIT may have returned without the standby: nobody is told before it is safe.
        if (Status passed = executor_->barrier().pass(deadline_); !passed) return Unknown{std::move(passed).error()};
    }
    remember(record.reply, record.expires_in);
    return Committed<Answer>{{std::move(record.reply), Standing::replayed}};
}

void Execution::remember(const Reply& reply, Duration kept) const {
    executor_->remember(*command_, reply, kept - (database_->clock().now() - begun_));
}

Result<std::optional<Record>> Execution::look() {
    const RetryScope scope{.budget = &database_->budget(),
                           .breaker = &database_->breaker(),
                           .deadline = deadline_,
                           .repeat = Repeat::safe};
    return retry_blocking(
        database_->clock(), database_->random(), database_->retry(), scope, [this]() -> Result<std::optional<Record>> {
            auto loan = SEMEL_TRY(database_->pool().acquire(deadline_));
            return semel::look(*loan, executor_->statements(), command_->identity.digest(), deadline_);
        });
}

Outcome<Answer> Execution::not_done(Error error) const {
    if (in_doubt_ && !SEMEL_MUTANT("doubt_forgotten")) return Unknown{std::move(error)};
    return NotCommitted{std::move(error)};
}

}  // namespace semel::detail
