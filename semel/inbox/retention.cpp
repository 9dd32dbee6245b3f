#include "semel/inbox/retention.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/db/transact.hpp"

namespace semel {
namespace {

Result<std::int64_t> in_batches(Database& database, Sql sql, const InboxRetentionOptions& options, Deadline deadline,
                                const std::stop_token& stop) {
    const std::int64_t kept = std::chrono::ceil<std::chrono::milliseconds>(options.window).count();
    TransactOptions how;
    how.deadline = deadline;
    std::int64_t sum = 0;
    for (std::int64_t done = options.batch; done >= options.batch && !stop.stop_requested(); sum += done) {
        const auto outcome = transact(database, how, [&](Transaction& tx) -> Result<std::int64_t> {
            const std::int64_t forgotten = SEMEL_TRY(tx.execute(sql, options.batch, kept)).affected();
            SEMEL_FAILPOINT("inbox.before_forget");
            return forgotten;
        });
        if (!outcome.committed()) return fail(Error(outcome.error()).within("retention of the inbox"));
        SEMEL_FAILPOINT("inbox.after_forget");
        done = outcome.value();
    }
    return sum;
}

}  // namespace

Result<InboxRetentionReport> apply_inbox_retention(Database& database, const InboxRetentionOptions& options,
                                                   Deadline deadline, const std::stop_token& stop) {
    if (options.batch < 1 || options.window < Duration::zero())
        return fail(Fault::rejected,
                    "retention of the inbox: a batch holds at least one row, and the window is not negative");
    const Sql messages = SEMEL_TRY(database.catalogue().find("inbox_forget"));
    const Sql attempts = SEMEL_TRY(database.catalogue().find("inbox_attempts_forget"));
    InboxRetentionReport report;
    report.messages = SEMEL_TRY(in_batches(database, messages, options, deadline, stop));
    report.attempts = SEMEL_TRY(in_batches(database, attempts, options, deadline, stop));
    return report;
}

}  // namespace semel
