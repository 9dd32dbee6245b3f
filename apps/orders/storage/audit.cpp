#include "apps/orders/storage/audit.hpp"

namespace orders {
namespace {

using semel::Result;
using semel::Row;
using semel::Uuid;

Result<AuditEntry> entry_from(const Row& row) {
    return AuditEntry{.id = SEMEL_TRY(row.get<Uuid>("id")),
                      .at = SEMEL_TRY(row.get<semel::Timestamp>("at")),
                      .caller = SEMEL_TRY(row.get<std::string>("caller")),
                      .operation = SEMEL_TRY(row.get<std::string>("operation")),
                      .command_id = SEMEL_TRY(row.get<std::string>("command_id")),
                      .correlation_id = SEMEL_TRY(row.get<std::string>("correlation_id")),
                      .kind = SEMEL_TRY(row.get<std::string>("kind")),
                      .resource_id = SEMEL_TRY(row.get<Uuid>("resource_id")),
                      .parent_id = SEMEL_TRY(row.get<std::optional<Uuid>>("parent_id")),
                      .from_state = SEMEL_TRY(row.get<std::string>("from_state")),
                      .to_state = SEMEL_TRY(row.get<std::string>("to_state")),
                      .version = SEMEL_TRY(row.get<std::int64_t>("version")),
                      .attempt = SEMEL_TRY(row.get<std::int64_t>("attempt")),
                      .runs = SEMEL_TRY(row.get<std::int64_t>("runs")),
                      .reason = SEMEL_TRY(row.get<std::string>("reason")),
                      .position = SEMEL_TRY(row.get<std::int64_t>("position")),
                      .replays = SEMEL_TRY(row.get<std::optional<std::int64_t>>("replays")).value_or(0),
                      .last_replay = SEMEL_TRY(row.get<std::optional<semel::Timestamp>>("last_at"))};
}

}  // namespace

void insert_audit(semel::Transaction& tx, std::string_view tenant, const AuditEntry& entry) {
    tx.post(
        "INSERT INTO orders_audit (tenant, id, at, caller, operation, command_id, correlation_id, kind, resource_id,"
        " parent_id, from_state, to_state, version, attempt, runs, reason)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        tenant, entry.id, entry.at, entry.caller, entry.operation, entry.command_id, entry.correlation_id, entry.kind,
        entry.resource_id, entry.parent_id, entry.from_state, entry.to_state, entry.version, entry.attempt, entry.runs,
        entry.reason);
}

Result<std::vector<AuditEntry>> list_audit(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                           const Uuid& resource_id, std::int64_t after, std::int64_t limit) {
    const semel::Rows rows = SEMEL_TRY(
        read(database, deadline,
             "SELECT audit.id, audit.at, audit.caller, audit.operation, audit.command_id, audit.correlation_id,"
             " audit.kind, audit.resource_id, audit.parent_id, audit.from_state, audit.to_state, audit.version,"
             " audit.attempt, audit.runs, audit.reason, audit.position, replay.replays, replay.last_at"
             " FROM orders_audit AS audit LEFT JOIN orders_replay AS replay"
             " ON replay.tenant = audit.tenant AND replay.command_id = audit.command_id"
             " WHERE audit.tenant = $1 AND (audit.resource_id = $2 OR audit.parent_id = $2) AND audit.position > $3"
             " ORDER BY audit.position LIMIT $4",
             tenant, resource_id, after, limit));
    std::vector<AuditEntry> entries;
    entries.reserve(rows.size());
    for (const Row row : rows) entries.push_back(SEMEL_TRY(entry_from(row)));
    return entries;
}

void add_replays(semel::Transaction& tx, std::string_view tenant, std::string_view command_id, std::int64_t replays,
                 semel::Timestamp at) {
    tx.post(
        "INSERT INTO orders_replay (tenant, command_id, replays, last_at) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT (tenant, command_id)"
        " DO UPDATE SET replays = orders_replay.replays + excluded.replays, last_at = excluded.last_at",
        tenant, command_id, replays, at);
}

}  // namespace orders
