#pragma once

#include "semel/base/id.hpp"
#include "semel/db/catalogue.hpp"
#include "semel/db/database.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace semel {

/// One partition under lease. What the relay does in it carries the epoch; whoever takes the partition over draws the
/// next one.
struct HeldPartition {
    std::int32_t partition = 0;
    std::int64_t epoch = 0;
    friend bool operator==(const HeldPartition&, const HeldPartition&) = default;
};

/// How many of `partitions` each of `relays` may hold, so that all of them are held.
[[nodiscard]] constexpr std::size_t fair_share(std::size_t partitions, std::size_t relays) noexcept {
    return relays == 0 ? partitions : (partitions + relays - 1) / relays;
}

/// The leases of one relay on the partitions of the outbox. Any number of relays, in any number of processes, share
/// them; each partition has one owner at a time by the database's clock. One thread at a time.
class Partitions {
public:
    /// `relay` is the owner's id, never used before; `name` is for people.
    [[nodiscard]] static Result<Partitions> of(Database& database, const Uuid& relay, std::string name, Duration lease);

    struct Tended {
        std::vector<HeldPartition> held;  ///< Until at least one lease after the call began.
        std::size_t share = 0;            ///< How many it may hold. With fewer, others have yet to give theirs back.
    };
    /// Says that the relay lives, renews what it holds, gives back what is above its fair share, and takes what nobody
    /// holds up to it. An Error: nothing is certain but what was certain before.
    [[nodiscard]] Result<Tended> tend(Deadline deadline);
    /// Gives everything back, so that others need not wait for the leases to end.
    [[nodiscard]] Status leave(Deadline deadline);

    [[nodiscard]] const Uuid& relay() const noexcept { return relay_; }

private:
    struct Statements {
        Sql seen, count, forget, leave, renew, take, release;
    };
    Partitions(Database& database, const Statements& statements, const Uuid& relay, std::string name, Duration lease);

    Database* database_;
    Statements statements_;
    Uuid relay_;
    std::string name_;
    std::int64_t lease_milliseconds_;
};

}  // namespace semel
