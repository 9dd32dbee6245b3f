#include "semel/command/leased_seen.hpp"

#include "semel/retry/backoff.hpp"

#include <algorithm>

namespace semel::detail {

Result<Seen> see(LeasedExecutor& executor, const Digest& identity, Deadline deadline) {
    TransactOptions options;
    options.transaction.marked = false;  // It writes nothing.
    options.lost_commit = LostCommit::rerun;
    options.deadline = deadline;
    const Instant begun = executor.database().clock().now();
    const Sql record_look = executor.executor().statements().record_look;
    auto outcome = transact(executor.database(), options, [&](Transaction& tx) -> Result<Seen> {
        Seen seen;
        // The lease first: a record that changes in between is then seen as it is later, never as it was before.
        const auto lease = SEMEL_TRY(look(tx, executor.statements(), identity));
        const Rows rows = SEMEL_TRY(tx.execute(record_look, BytesView(identity)));
        seen.record = SEMEL_TRY(record_from(rows));
        if (lease) seen.lease = *lease;
        return seen;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("look at the command"));
    Seen seen = std::move(outcome).value();
    if (seen.record) seen.record->expires_in -= executor.database().clock().now() - begun;
    return seen;
}

Outcome<Answer> answer_with(LeasedExecutor& executor, const Command& command, const Record& record, Standing standing) {
    const Instant begun = executor.database().clock().now();
    if (record.needs_barrier) {
        // Its COMMIT may have returned without the standby: nobody is told before it is safe.
        Database& database = executor.database();
        const Deadline until = command.deadline.within(database.clock().now(), database.deadline_default());
        if (Status passed = executor.executor().barrier().pass(until); !passed)
            return Unknown{std::move(passed).error()};
    }
    const Duration passed = executor.database().clock().now() - begun;
    executor.executor().remember(command, record.reply, record.expires_in - passed);
    return Committed<Answer>{{record.reply, standing}};
}

Duration delay_after(std::int64_t attempts, const PolicySpec& spec, bool throttled, Random& random) {
    constexpr std::int64_t doublings_max = 32;  // By then every delay is at its cap.
    Backoff backoff;
    Duration delay{};
    for (std::int64_t i = 0; i < std::clamp<std::int64_t>(attempts, 1, doublings_max); ++i)
        delay = backoff.next(spec, throttled, random);
    return delay;
}

}  // namespace semel::detail
