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

/// Why nothing leaves, or the log piles up.
std::string trouble_of(const FeedStatus& feed, bool made, bool appends_stream, std::string_view wal_status) {
    const bool polled = feed.mode == "polling";
    if (polled && appends_stream)
        return "appends go through the log, but the outbox is polled: what is appended does not leave";
    if (polled && feed.slot_exists)
        return "the slot " + feed.slot +
               " is left over and keeps the server's log: drop it, or start a relay with --cdc";
    if (polled) return "";
    if (made && !feed.slot_exists)
        return "the slot " + feed.slot + " is gone: nothing leaves until a relay with --cdc makes it anew";
    if (wal_status == "lost")
        return "the slot " + feed.slot + " was invalidated: nothing leaves until a relay with --cdc makes it anew";
    if (!feed.slot_active) return "nobody streams: nothing leaves until a relay runs with --cdc";
    if (wal_status == "unreserved")
        return "the slot " + feed.slot + " is about to be invalidated: its relay lags behind max_slot_wal_keep_size";
    return "";
}

/// The columns of outbox_status_feed.sql.
Result<FeedStatus> feed_from(const Row& row) {
    FeedStatus feed;
    feed.mode = SEMEL_TRY(row.get<std::string>(0));
    feed.slot = SEMEL_TRY(row.get<std::optional<std::string>>(1)).value_or("");
    const bool made = SEMEL_TRY(row.get<bool>(2));
    feed.slot_exists = SEMEL_TRY(row.get<bool>(3));
    feed.slot_active = SEMEL_TRY(row.get<bool>(4));
    const auto wal_status = SEMEL_TRY(row.get<std::string>(5));
    feed.retained_bytes = SEMEL_TRY(row.get<std::optional<std::int64_t>>(6));
    if (const auto ago = SEMEL_TRY(row.get<std::optional<std::int64_t>>(7)))
        feed.streamed_ago = std::chrono::microseconds(*ago);
    feed.slots_lost = SEMEL_TRY(row.get<std::int64_t>(8));
    const bool appends_stream = SEMEL_TRY(row.get<bool>(9));
    feed.trouble = trouble_of(feed, made, appends_stream, wal_status);
    return feed;
}

struct Statements {
    Sql partitions, oldest, parked, relays, feed;
};

Result<OutboxStatus> read(Transaction& tx, const Statements& statements) {
    OutboxStatus status;
    const Rows partitions = SEMEL_TRY(tx.execute(statements.partitions));
    for (const Row row : partitions) {
        const PartitionStatus& one = status.partitions.emplace_back(SEMEL_TRY(partition_from(row)));
        status.pending += one.pending;
        status.waiting += one.waiting;
    }
    const Rows feed = SEMEL_TRY(tx.execute(statements.feed));
    status.feed = SEMEL_TRY(feed_from(feed.front()));
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
                                .relays = SEMEL_TRY(catalogue.find("outbox_status_relays")),
                                .feed = SEMEL_TRY(catalogue.find("outbox_status_feed"))};
    TransactOptions options;
    options.deadline = deadline;
    options.transaction.access = Access::read_only;
    options.transaction.isolation = Isolation::repeatable_read;
    auto outcome = transact(database, options, [&](Transaction& tx) { return read(tx, statements); });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("look at the outbox"));
    return std::move(outcome).value();
}

}  // namespace semel
