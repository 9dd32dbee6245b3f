#pragma once

#include "semel/base/id.hpp"
#include "semel/db/database.hpp"
#include "semel/db/transaction.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace semel {

/// One thing that a person did to the outbox by hand: who, what, how many events. One id for all batches of it.
struct OutboxAudit {
    Uuid id;
    std::string action;  ///< "replay", "prune"
    std::string actor;
    std::string detail;  ///< What was asked for.
};

struct OutboxAuditEntry {
    OutboxAudit audit;
    std::int64_t events = 0;
    Timestamp begun_at;
};

/// Adds `events` to the entry, in the transaction that does them: the count is true whatever happens in between.
void post_audit(Transaction& tx, Sql write, const OutboxAudit& audit, std::int64_t events);

/// The last `limit` entries, the newest first.
[[nodiscard]] Result<std::vector<OutboxAuditEntry>> list_audit(Database& database, std::size_t limit,
                                                               Deadline deadline);

}  // namespace semel
