#pragma once

#include "apps/orders/domain/audit.hpp"
#include "apps/orders/storage/read.hpp"
#include "semel/db/transaction.hpp"

#include <string_view>
#include <vector>

namespace orders {

void insert_audit(semel::Transaction& tx, std::string_view tenant, const AuditEntry& entry);

/// Of one resource and of what belongs to it, as it happened: what comes behind the position `after`, at most `limit`.
/// With how often each reply was asked for again.
[[nodiscard]] semel::Result<std::vector<AuditEntry>> list_audit(semel::Database& database, semel::Deadline deadline,
                                                                std::string_view tenant, const semel::Uuid& resource_id,
                                                                std::int64_t after, std::int64_t limit);

/// The reply of a command was asked for `replays` times more.
void add_replays(semel::Transaction& tx, std::string_view tenant, std::string_view command_id, std::int64_t replays,
                 semel::Timestamp at);

}  // namespace orders
