#include "semel/outbox/partitions.hpp"

#include "semel/db/transact.hpp"
#include "semel/outbox/append.hpp"
#include "semel/outbox/numbers.hpp"

namespace semel {
namespace {

/// Everything here may be done twice: what was taken by an attempt whose COMMIT got lost is renewed by the next.
TransactOptions repeatable(Deadline deadline) {
    TransactOptions options;
    options.transaction.marked = false;
    options.deadline = deadline;
    options.lost_commit = LostCommit::rerun;
    return options;
}

Status add(std::vector<HeldPartition>& held, const Rows& rows) {
    for (const Row row : rows)
        held.push_back(
            {.partition = SEMEL_TRY(row.get<std::int32_t>(0)), .epoch = SEMEL_TRY(row.get<std::int64_t>(1))});
    return {};
}

}  // namespace

Result<Partitions> Partitions::of(Database& database, const Uuid& relay, std::string name, Duration lease) {
    const Catalogue& catalogue = database.catalogue();
    const Statements statements{.seen = SEMEL_TRY(catalogue.find("outbox_relay_seen")),
                                .count = SEMEL_TRY(catalogue.find("outbox_relay_count")),
                                .forget = SEMEL_TRY(catalogue.find("outbox_relay_forget")),
                                .leave = SEMEL_TRY(catalogue.find("outbox_relay_leave")),
                                .renew = SEMEL_TRY(catalogue.find("partition_renew")),
                                .take = SEMEL_TRY(catalogue.find("partition_take")),
                                .release = SEMEL_TRY(catalogue.find("partition_release"))};
    return Partitions(database, statements, relay, std::move(name), lease);
}

Partitions::Partitions(Database& database, const Statements& statements, const Uuid& relay, std::string name,
                       Duration lease)
    : database_(&database),
      statements_(statements),
      relay_(relay),
      name_(std::move(name)),
      lease_milliseconds_(std::chrono::ceil<std::chrono::milliseconds>(lease).count()) {
    SEMEL_ASSERT(lease > Duration::zero());
}

Result<Partitions::Tended> Partitions::tend(Deadline deadline) {
    auto outcome = transact(*database_, repeatable(deadline), [this](Transaction& tx) -> Result<Tended> {
        tx.post(statements_.forget);
        tx.post(statements_.seen, relay_, name_, lease_milliseconds_);
        const Rows count = SEMEL_TRY(tx.execute(statements_.count));
        const auto relays = static_cast<std::size_t>(SEMEL_TRY(count.front().get<std::int64_t>(0)));
        const bool polled = SEMEL_TRY(count.front().get<bool>(1));
        Tended tended;
        // Where events leave through the log, whoever streams has all partitions and this one none.
        tended.share = polled ? fair_share(partition_count, relays) : 0;
        const Rows renewed = SEMEL_TRY(tx.execute(statements_.renew, relay_, lease_milliseconds_));
        SEMEL_TRY(add(tended.held, renewed));
        if (tended.held.size() > tended.share) {
            const auto surplus = std::span(tended.held).subspan(tended.share);
            tx.post(statements_.release, relay_, numbers(surplus, &HeldPartition::partition));
            tended.held.resize(tended.share);
        } else if (tended.held.size() < tended.share) {
            const auto missing = static_cast<std::int64_t>(tended.share - tended.held.size());
            const Rows taken = SEMEL_TRY(tx.execute(statements_.take, relay_, lease_milliseconds_, missing));
            SEMEL_TRY(add(tended.held, taken));
        }
        if (!polled) tended.share = partition_count;  // It looks again soon, should that change.
        return tended;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("tend the partitions"));
    return std::move(outcome).value();
}

Status Partitions::leave(Deadline deadline) {
    std::vector<HeldPartition> all;
    for (std::uint32_t n = 0; n < partition_count; ++n) all.push_back({.partition = static_cast<std::int32_t>(n)});
    const std::string list = numbers(std::span<const HeldPartition>(all), &HeldPartition::partition);
    auto outcome = transact(*database_, repeatable(deadline), [&](Transaction& tx) -> Status {
        tx.post(statements_.release, relay_, list);
        tx.post(statements_.leave, relay_);
        return {};
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("give the partitions back"));
    return {};
}

}  // namespace semel
