#include "semel/outbox/retention.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/db/transact.hpp"
#include "semel/outbox/uuids.hpp"

#include <vector>

namespace semel {

Result<OutboxRetention> OutboxRetention::of(Database& database) {
    const Catalogue& catalogue = database.catalogue();
    const Statements statements{.find = SEMEL_TRY(catalogue.find("outbox_prune_find")),
                                .remove = SEMEL_TRY(catalogue.find("outbox_prune_delete")),
                                .audit = SEMEL_TRY(catalogue.find("outbox_audit_write"))};
    return OutboxRetention(database, statements);
}

Outcome<OutboxRetention::Batch> OutboxRetention::prune(Duration age, const Uuid& after, std::size_t limit,
                                                       const OutboxAudit& audit, Deadline deadline) const {
    const std::int64_t microseconds = std::chrono::duration_cast<std::chrono::microseconds>(age).count();
    TransactOptions options;
    options.deadline = deadline;
    return transact(*database_, options, [&](Transaction& tx) -> Result<Batch> {
        const Rows rows =
            SEMEL_TRY(tx.execute(statements_.find, microseconds, after, static_cast<std::int64_t>(limit)));
        std::vector<Uuid> found;
        for (const Row row : rows) found.push_back(SEMEL_TRY(row.get<Uuid>(0)));
        if (found.empty()) return Batch{.last = after};
        // A statement of its own, which sees what was committed until the locks were granted.
        const Rows removed = SEMEL_TRY(tx.execute(statements_.remove, uuids(found)));
        SEMEL_FAILPOINT("outbox.before_prune");
        post_audit(tx, statements_.audit, audit, removed.affected());
        return Batch{.deleted = removed.affected(), .last = found.back(), .more = found.size() == limit};
    });
}

}  // namespace semel
