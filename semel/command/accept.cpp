#include "semel/command/accept.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/mutant.hpp"
#include "semel/command/leased_seen.hpp"
#include "semel/retry/backoff.hpp"

namespace semel {
namespace {

/// How long a duplicate waits for the first to be stored: two round trips, and no one's handler.
constexpr Duration storing_max = std::chrono::seconds(1);

Outcome<> store(LeasedExecutor& executor, const Command& command, BytesView payload, Deadline deadline) {
    const Claim claim(executor.executor().statements(), command.identity, command.fingerprint);
    TransactOptions options;
    options.transaction.marked = false;
    options.deadline = deadline;
    options.lost_commit = LostCommit::rerun;  // The primary key decides.
    return transact(executor.database(), options, [&](Transaction& tx) -> Status {
        const Identity& identity = command.identity;
        tx.post(executor.statements().claim_guard, BytesView(identity.digest()), identity.lock(),
                claim.stored_fingerprint());
        SEMEL_FAILPOINT("accept.before_store");
        tx.post(executor.statements().accept, BytesView(identity.digest()), claim.stored_fingerprint(),
                identity.tenant(), identity.caller(), identity.operation(), identity.key(), payload,
                command.correlation_id);
        return {};
    });
}

Result<Accepted> duplicate(LeasedExecutor& executor, const Command& command, const Record& record, Deadline deadline) {
    if (record.needs_barrier) SEMEL_TRY(executor.executor().barrier().pass(deadline));
    return Accepted{
        .command_id = command.identity.command_id(), .state = record.state, .duplicate = true, .reply = record.reply};
}

}  // namespace

Outcome<Accepted> accept(LeasedExecutor& executor, const Command& command, BytesView payload) {
    if (const auto operation = executor.operation_for(command, payload); !operation)
        return NotCommitted{operation.error()};
    Database& database = executor.database();
    Clock& clock = database.clock();
    const Deadline deadline =
        command.deadline.is_never() ? Deadline::after(clock.now(), database.deadline_default()) : command.deadline;
    const Deadline wait_until = deadline.within(clock.now(), storing_max);
    Backoff backoff;
    bool in_doubt = false;
    const auto not_done = [&in_doubt](Error error) -> Outcome<Accepted> {
        if (in_doubt) return Unknown{std::move(error)};
        return NotCommitted{std::move(error)};
    };
    for (;;) {
        Outcome<> stored = store(executor, command, payload, deadline);
        SEMEL_FAILPOINT("accept.after_store");
        if (stored.committed() || (stored.unknown() && SEMEL_MUTANT("accepted_before_durable")))
            return Committed<Accepted>{{.command_id = command.identity.command_id()}};
        in_doubt = in_doubt || stored.unknown();
        if (!verdict_of(stored.error())) return not_done(std::move(stored).error());
        const auto seen = detail::see(executor, command.identity.digest(), deadline);
        if (!seen) return not_done(seen.error());
        if (seen->record) {
            const ClaimVerdict verdict = verdict_of(seen->record, command.fingerprint);
            if (verdict == ClaimVerdict::mismatch || verdict == ClaimVerdict::expired)
                return NotCommitted{refusal(verdict)};
            auto found = duplicate(executor, command, *seen->record, deadline);
            if (!found) return Unknown{std::move(found).error()};
            return Committed<Accepted>{*std::move(found)};
        }
        constexpr PolicySpec pace{.base = std::chrono::milliseconds(5), .cap = std::chrono::milliseconds(100)};
        const Instant next = clock.now() + backoff.next(pace, false, database.random());
        if (wait_until.passed(next)) return not_done(refusal(ClaimVerdict::in_progress));
        std::ignore = clock.sleep(next, {});
    }
}

}  // namespace semel
