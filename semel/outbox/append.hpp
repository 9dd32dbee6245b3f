#pragma once

#include "semel/base/id.hpp"
#include "semel/base/random.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/db/catalogue.hpp"
#include "semel/db/transaction.hpp"
#include "semel/outbox/event.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

/// How many partitions relays share, and how many stripes the locks of aggregates are spread over. A transaction
/// with many aggregates holds at most one lock per stripe, so that it cannot fill the server's lock table.
inline constexpr std::uint32_t partition_count = 64;
inline constexpr std::uint32_t stripe_count = 4096;

/// Where an aggregate belongs, all from one digest of (tenant, type, id).
struct AggregatePlace {
    std::uint32_t partition = 0;
    std::uint32_t stripe = 0;
    std::int64_t number = 0;  ///< 64 bits of the digest: stands for the aggregate where its name is too long.
};
[[nodiscard]] AggregatePlace place_of(std::string_view tenant, const Aggregate& aggregate);

/// The statements of the writing end in the words of one driver.
struct AppendStatements {
    Sql lock;
    Sql version;
    Sql event;
    [[nodiscard]] static Result<AppendStatements> from(const Catalogue& catalogue);
};

/// Says what is wrong with an event, before it is written: see Contracts.
using EventCheck = std::function<Status(const Event&)>;

/// The events of one transaction. `append` only notes; they are written in the last flush, behind the locks of
/// their aggregates in one fixed order, so that two transactions never wait for each other in a circle and no
/// position is drawn before the lock that orders it.
class Outbox {
public:
    /// Without a check every event is taken; it must outlive the outbox.
    Outbox(const AppendStatements& statements, std::string_view tenant, Clock& clock, Random& random,
           const EventCheck* check = nullptr)
        : statements_(&statements), tenant_(tenant), ids_(clock, random), check_(check) {}

    /// Returns the event's id.
    Uuid append(Event event);
    /// What the check had against the first event that it refused. Whoever commits asks before, and rolls back.
    [[nodiscard]] const Status& checked() const noexcept { return checked_; }
    [[nodiscard]] bool empty() const noexcept { return pending_.empty(); }

    /// Posts everything that was appended. For whoever commits the transaction, last before COMMIT.
    void post_to(Transaction& tx);

private:
    struct Pending {
        Uuid id;
        Event event;
        AggregatePlace place;
        std::int64_t lock;  ///< Of the aggregate's stripe.
    };
    /// Each once, in the order in which everyone takes them.
    [[nodiscard]] std::vector<std::int64_t> stripe_locks() const;

    const AppendStatements* statements_;
    std::string tenant_;
    UuidGenerator ids_;
    const EventCheck* check_;
    Status checked_;
    std::vector<Pending> pending_;
};

}  // namespace semel
