#include "semel/outbox/replay.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/db/transact.hpp"
#include "semel/outbox/uuids.hpp"

#include <algorithm>

namespace semel {

Result<EventReplay> EventReplay::of(Database& database) {
    const Catalogue& catalogue = database.catalogue();
    const Statements statements{.find = SEMEL_TRY(catalogue.find("outbox_replay_find")),
                                .insert = SEMEL_TRY(catalogue.find("outbox_replay_insert")),
                                .audit = SEMEL_TRY(catalogue.find("outbox_audit_write"))};
    return EventReplay(database, statements);
}

Result<ReplayPlan> EventReplay::find(const ReplayFilter& filter, Deadline deadline) const {
    TransactOptions options;
    options.deadline = deadline;
    options.transaction.access = Access::read_only;
    auto outcome = transact(*database_, options, [&](Transaction& tx) -> Result<ReplayPlan> {
        const Rows rows = SEMEL_TRY(tx.execute(
            statements_.find, filter.type, microseconds_of(filter.since), microseconds_of(filter.until),
            filter.aggregate_type, filter.aggregate_id, filter.tenant, static_cast<std::int64_t>(filter.limit)));
        ReplayPlan plan;
        plan.events.reserve(rows.size());
        for (const Row row : rows) {
            plan.events.push_back(SEMEL_TRY(row.get<Uuid>(0)));
            const Timestamp created(std::chrono::microseconds(SEMEL_TRY(row.get<std::int64_t>(1))));
            plan.oldest = plan.oldest ? std::min(*plan.oldest, created) : created;
        }
        return plan;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("find the events"));
    return std::move(outcome).value();
}

Outcome<std::int64_t> EventReplay::send(std::span<const Uuid> events, const OutboxAudit& audit,
                                        Deadline deadline) const {
    const std::string list = uuids(events);
    TransactOptions options;
    options.deadline = deadline;
    return transact(*database_, options, [&](Transaction& tx) -> Result<std::int64_t> {
        const Rows sent = SEMEL_TRY(tx.execute(statements_.insert, list));
        SEMEL_FAILPOINT("outbox.before_replay");
        post_audit(tx, statements_.audit, audit, sent.affected());
        return sent.affected();
    });
}

}  // namespace semel
