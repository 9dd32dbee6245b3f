#include "semel/outbox/pending.hpp"

#include "semel/db/transact.hpp"
#include "semel/outbox/numbers.hpp"

#include <functional>

namespace semel {
namespace {

/// Reasons are for people; a broker that answers with a page of text must not fill the table.
constexpr std::size_t reason_bytes_max = 1000;

std::string_view kept(std::string_view reason) {
    if (reason.size() <= reason_bytes_max) return reason;
    std::size_t end = reason_bytes_max;
    // Never in the middle of a character.
    while (end > 0 && (static_cast<unsigned char>(reason[end]) & 0xc0U) == 0x80U) --end;
    return reason.substr(0, end);
}

TransactOptions repeatable(Deadline deadline) {
    TransactOptions options;
    options.transaction.marked = false;
    options.deadline = deadline;
    options.lost_commit = LostCommit::rerun;
    return options;
}

/// The columns of pending_read.sql, in their order.
enum Column : std::size_t {
    pending_id,
    position,
    aggregate,
    partition,
    attempts,
    event_id,
    tenant,
    aggregate_type,
    aggregate_id,
    aggregate_version,
    type,
    payload,
    headers,
    created_at,
    behind_parked,
    replicated,
};

Result<PendingEvent> event_from(const Row& row) {
    return PendingEvent{.row = {.id = SEMEL_TRY(row.get<std::int64_t>(pending_id)),
                                .position = SEMEL_TRY(row.get<std::int64_t>(position)),
                                .partition = SEMEL_TRY(row.get<std::int32_t>(partition))},
                        .aggregate = SEMEL_TRY(row.get<std::int64_t>(aggregate)),
                        .attempts = SEMEL_TRY(row.get<std::int32_t>(attempts)),
                        .behind_parked = SEMEL_TRY(row.get<bool>(behind_parked))};
}

Result<Message> message_from(const Row& row) {
    const std::chrono::microseconds created(SEMEL_TRY(row.get<std::int64_t>(created_at)));
    return Message{.id = SEMEL_TRY(row.get<Uuid>(event_id)),
                   .tenant = SEMEL_TRY(row.get<std::string>(tenant)),
                   .aggregate = {.type = SEMEL_TRY(row.get<std::string>(aggregate_type)),
                                 .id = SEMEL_TRY(row.get<std::string>(aggregate_id)),
                                 .version = SEMEL_TRY(row.get<std::optional<std::int64_t>>(aggregate_version))},
                   .type = SEMEL_TRY(row.get<std::string>(type)),
                   .payload = SEMEL_TRY(row.get<std::string>(payload)),
                   .headers = SEMEL_TRY(row.get<std::string>(headers)),
                   .created_at = Timestamp(created),
                   .position = SEMEL_TRY(row.get<std::int64_t>(position)),
                   .partition = SEMEL_TRY(row.get<std::int32_t>(partition))};
}

}  // namespace

Result<Pending> Pending::of(Database& database, const Uuid& relay) {
    const Catalogue& catalogue = database.catalogue();
    const Statements statements{.plan = SEMEL_TRY(catalogue.find("pending_plan")),
                                .read = SEMEL_TRY(catalogue.find("pending_read")),
                                .remove = SEMEL_TRY(catalogue.find("pending_delete")),
                                .forget = SEMEL_TRY(catalogue.find("pending_forget")),
                                .fail = SEMEL_TRY(catalogue.find("pending_fail")),
                                .park = SEMEL_TRY(catalogue.find("parked_insert")),
                                .park_remove = SEMEL_TRY(catalogue.find("parked_remove"))};
    return Pending(database, statements, relay);
}

Result<PendingBatch> Pending::read(std::span<const HeldPartition> partitions, std::size_t each,
                                   Deadline deadline) const {
    const std::string list = numbers(partitions, &HeldPartition::partition);
    auto outcome = transact(*database_, repeatable(deadline), [&](Transaction& tx) -> Result<PendingBatch> {
        tx.post(statements_.plan);
        const Rows rows = SEMEL_TRY(tx.execute(statements_.read, list, static_cast<std::int64_t>(each)));
        PendingBatch batch;
        batch.events.reserve(rows.size());
        batch.messages.reserve(rows.size());
        for (const Row row : rows) {
            batch.events.push_back(SEMEL_TRY(event_from(row)));
            batch.messages.push_back(SEMEL_TRY(message_from(row)));
            batch.replicated = SEMEL_TRY(row.get<bool>(replicated));
        }
        return batch;
    });
    if (!outcome.committed()) return semel::fail(std::move(outcome).error().within("read the outbox"));
    return std::move(outcome).value();
}

Status Pending::settle(const Settlement& settlement, Deadline deadline) const {
    auto outcome = transact(*database_, repeatable(deadline), [&](Transaction& tx) -> Status {
        post_settlement(tx, settlement);
        return {};
    });
    if (!outcome.committed()) return semel::fail(std::move(outcome).error().within("settle what was published"));
    return {};
}

void Pending::post_settlement(Transaction& tx, const Settlement& settlement) const {
    tx.post(statements_.plan);
    if (const std::span all(settlement.acknowledged); !all.empty()) {
        const std::string ids = numbers(all, &PendingRow::id);
        tx.post(statements_.remove, ids, numbers(all, &PendingRow::position), numbers(all, &PendingRow::partition));
        tx.post(statements_.forget, ids);
    }
    for (const Failure& one : settlement.failures) {
        const auto delay = std::chrono::ceil<std::chrono::milliseconds>(one.delay).count();
        tx.post(statements_.fail, one.row.id, one.attempts, delay, kept(one.reason), one.under.partition, relay_,
                one.under.epoch, one.row.position);
    }
    for (const Parking& one : settlement.parked) {
        tx.post(statements_.park, one.row.id, one.attempts, kept(one.reason), one.blocks, one.under.partition, relay_,
                one.under.epoch, one.follows, one.row.position);
        tx.post(statements_.park_remove, one.row.id, one.under.partition, relay_, one.under.epoch, one.row.position);
    }
}

}  // namespace semel
