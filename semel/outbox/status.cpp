#include "semel/outbox/status.hpp"

#include "semel/db/transact.hpp"

#include <algorithm>

namespace semel {
namespace {

Result<Duration> microseconds(const Row& row, std::size_t column) {
    return std::chrono::microseconds(SEMEL_TRY(row.get<std::int64_t>(column)));
}

/// The columns of outbox_status_partitions.sql.
Result<PartitionStatus> partition_from(const Row& row) {
    return PartitionStatus{.partition = SEMEL_TRY(row.get<std::int32_t>(0)),
                           .epoch = SEMEL_TRY(row.get<std::int64_t>(1)),
                           .owner = SEMEL_TRY(row.get<std::optional<Uuid>>(2)),
                           .lease_left = SEMEL_TRY(microseconds(row, 3)),
                           .pending = SEMEL_TRY(row.get<std::int64_t>(4)),
                           .waiting = SEMEL_TRY(row.get<std::int64_t>(5))};
}

/// The columns of outbox_status_relays.sql.
Result<RelayStatus> relay_from(const Row& row) {
    return RelayStatus{.id = SEMEL_TRY(row.get<Uuid>(0)),
                       .name = SEMEL_TRY(row.get<std::string>(1)),
                       .seen_ago = SEMEL_TRY(microseconds(row, 2)),
                       .alive = SEMEL_TRY(row.get<bool>(3))};
}

struct Statements {
    Sql partitions, oldest, parked, relays;
};

Result<OutboxStatus> read(Transaction& tx, const Statements& statements) {
    OutboxStatus status;
    const Rows partitions = SEMEL_TRY(tx.execute(statements.partitions));
    for (const Row row : partitions) {
        const PartitionStatus& one = status.partitions.emplace_back(SEMEL_TRY(partition_from(row)));
        status.pending += one.pending;
        status.waiting += one.waiting;
    }
    const Rows oldest = SEMEL_TRY(tx.execute(statements.oldest));
    if (!oldest.empty()) status.oldest_age = SEMEL_TRY(microseconds(oldest.front(), 0));
    const Rows parked = SEMEL_TRY(tx.execute(statements.parked));
    status.parked = SEMEL_TRY(parked.front().get<std::int64_t>(0));
    const Rows relays = SEMEL_TRY(tx.execute(statements.relays));
    for (const Row row : relays) {
        RelayStatus& one = status.relays.emplace_back(SEMEL_TRY(relay_from(row)));
        one.partitions = std::ranges::count(status.partitions, std::optional(one.id), &PartitionStatus::owner);
    }
    return status;
}

}  // namespace

Result<OutboxStatus> outbox_status(Database& database, Deadline deadline) {
    const Catalogue& catalogue = database.catalogue();
    const Statements statements{.partitions = SEMEL_TRY(catalogue.find("outbox_status_partitions")),
                                .oldest = SEMEL_TRY(catalogue.find("outbox_status_oldest")),
                                .parked = SEMEL_TRY(catalogue.find("outbox_status_parked")),
                                .relays = SEMEL_TRY(catalogue.find("outbox_status_relays"))};
    TransactOptions options;
    options.deadline = deadline;
    options.transaction.access = Access::read_only;
    options.transaction.isolation = Isolation::repeatable_read;
    auto outcome = transact(database, options, [&](Transaction& tx) { return read(tx, statements); });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("look at the outbox"));
    return std::move(outcome).value();
}

}  // namespace semel
