#include "semel/outbox/replay_audit.hpp"

#include "semel/db/transact.hpp"

namespace semel {

void post_audit(Transaction& tx, Sql write, const OutboxAudit& audit, std::int64_t events) {
    tx.post(write, audit.id, audit.action, audit.actor, audit.detail, events);
}

Result<std::vector<OutboxAuditEntry>> list_audit(Database& database, std::size_t limit, Deadline deadline) {
    const Sql sql = SEMEL_TRY(database.catalogue().find("outbox_audit_list"));
    TransactOptions options;
    options.deadline = deadline;
    options.transaction.access = Access::read_only;
    auto outcome = transact(database, options, [&](Transaction& tx) -> Result<std::vector<OutboxAuditEntry>> {
        const Rows rows = SEMEL_TRY(tx.execute(sql, static_cast<std::int64_t>(limit)));
        std::vector<OutboxAuditEntry> entries;
        for (const Row row : rows)
            entries.push_back({.audit = {.id = SEMEL_TRY(row.get<Uuid>(0)),
                                         .action = SEMEL_TRY(row.get<std::string>(1)),
                                         .actor = SEMEL_TRY(row.get<std::string>(2)),
                                         .detail = SEMEL_TRY(row.get<std::string>(3))},
                               .events = SEMEL_TRY(row.get<std::int64_t>(4)),
                               .begun_at = Timestamp(std::chrono::microseconds(SEMEL_TRY(row.get<std::int64_t>(5))))});
        return entries;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("read the audit of the outbox"));
    return std::move(outcome).value();
}

}  // namespace semel
