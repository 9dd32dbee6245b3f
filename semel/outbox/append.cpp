#include "semel/outbox/append.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/mutant.hpp"
#include "semel/db/lock_key.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace semel {
namespace {

/// The advisory lock of a stripe: 64 bits of a digest in a domain of its own, which is worked out once for each.
std::int64_t stripe_lock(std::uint32_t stripe) {
    static std::array<std::atomic<std::int64_t>, stripe_count> known{};  // 0: not yet.
    std::atomic<std::int64_t>& lock = known[stripe];
    if (const std::int64_t key = lock.load(std::memory_order_relaxed); key != 0) return key;
    const std::array<std::byte, 2> bytes{static_cast<std::byte>(stripe >> 8U), static_cast<std::byte>(stripe & 0xffU)};
    const std::int64_t key = lock_key("semel.append", bytes);
    lock.store(key, std::memory_order_relaxed);
    return key;
}

}  // namespace

AggregatePlace place_of(std::string_view tenant, const Aggregate& aggregate) {
    Sha256 sha;
    for (const std::string_view part : {std::string_view("semel.aggregate"), tenant, std::string_view(aggregate.type),
                                        std::string_view(aggregate.id)})
        sha.add_part(bytes_of(part));
    const std::uint64_t number = leading_number(std::move(sha).finish());
    return {.partition = static_cast<std::uint32_t>(number % partition_count),
            .stripe = static_cast<std::uint32_t>(number % stripe_count),
            .number = static_cast<std::int64_t>(number)};
}

Result<AppendStatements> AppendStatements::from(const Catalogue& catalogue) {
    return AppendStatements{.lock = SEMEL_TRY(catalogue.find("append_lock")),
                            .version = SEMEL_TRY(catalogue.find("append_version")),
                            .event = SEMEL_TRY(catalogue.find("append_event"))};
}

Uuid Outbox::append(Event event) {
    const Uuid id = ids_.next();
    if (check_ != nullptr && *check_ && checked_) checked_ = (*check_)(event);
    const AggregatePlace place = place_of(tenant_, event.aggregate);
    std::int64_t lock = stripe_lock(place.stripe);
    if (SEMEL_MUTANT("append_without_lock")) lock = lock_key("semel.append", id.bytes);  // nobody else's
    pending_.push_back({.id = id, .event = std::move(event), .place = place, .lock = lock});
    return id;
}

void Outbox::post_to(Transaction& tx) {
    if (pending_.empty()) return;
    // Whoever writes an event takes the lock of its aggregate itself; several are taken beforehand, in one order.
    if (const auto locks = stripe_locks(); locks.size() > 1)
        for (const std::int64_t lock : locks) tx.post(statements_->lock, lock);
    SEMEL_FAILPOINT("outbox.before_append");
    for (const Pending& pending : pending_) {
        const Aggregate& aggregate = pending.event.aggregate;
        tx.post(statements_->event, pending.id, tenant_, aggregate.type, aggregate.id, aggregate.version,
                pending.event.type, pending.event.payload, pending.event.headers,
                static_cast<std::int64_t>(pending.place.partition), pending.place.number, pending.lock);
        // Behind the lock: two who wait for each other's version while one has the lock would wait for ever.
        if (aggregate.version) tx.post(statements_->version, tenant_, aggregate.type, aggregate.id, *aggregate.version);
    }
    pending_.clear();
}

std::vector<std::int64_t> Outbox::stripe_locks() const {
    std::vector<std::int64_t> locks;
    locks.reserve(pending_.size());
    for (const Pending& pending : pending_) locks.push_back(pending.lock);
    std::ranges::sort(locks);
    locks.erase(std::ranges::unique(locks).begin(), locks.end());
    return locks;
}

}  // namespace semel
