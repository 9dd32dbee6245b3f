#include "semel/idempotency/retention.hpp"

#include "semel/db/transact.hpp"

namespace semel {
namespace {

template <class... Values>
Result<std::int64_t> one_batch(Database& database, Deadline deadline, Sql sql, const Values&... values) {
    TransactOptions options;
    options.deadline = deadline;
    const auto outcome = transact(database, options, [&](Transaction& tx) -> Result<std::int64_t> {
        return SEMEL_TRY(tx.execute(sql, values...)).affected();
    });
    if (outcome.committed()) return outcome.value();
    return fail(Error(outcome.error()).within("retention of command records"));
}

}  // namespace

Result<RetentionReport> apply_retention(Database& database, const RetentionOptions& options, Deadline deadline,
                                        const std::stop_token& stop) {
    if (options.batch < 1 || options.tombstone < Duration::zero())
        return fail(Fault::rejected,
                    "retention: a batch holds at least one row, and a tombstone's time is not negative");
    const Statements statements = SEMEL_TRY(Statements::from(database.catalogue()));
    const std::int64_t kept = std::chrono::ceil<std::chrono::milliseconds>(options.tombstone).count();
    RetentionReport report;
    for (std::int64_t done = options.batch; done >= options.batch && !stop.stop_requested();) {
        done = SEMEL_TRY(one_batch(database, deadline, statements.record_expire, options.batch));
        report.expired += done;
    }
    for (std::int64_t done = options.batch; done >= options.batch && !stop.stop_requested();) {
        done = SEMEL_TRY(one_batch(database, deadline, statements.record_forget, options.batch, kept));
        report.forgotten += done;
    }
    return report;
}

}  // namespace semel
