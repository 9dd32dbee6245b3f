#pragma once

#include "semel/base/id.hpp"
#include "semel/db/catalogue.hpp"
#include "semel/db/database.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace semel {

/// What waits in one partition, and who relays it.
struct PartitionStatus {
    std::int32_t partition = 0;
    std::int64_t epoch = 0;
    std::optional<Uuid> owner;  ///< Who has the lease; nobody if it has ended.
    Duration lease_left{};
    std::int64_t pending = 0;
    std::int64_t waiting = 0;  ///< Of them, those that were not taken and are to be tried again later.
};

struct RelayStatus {
    Uuid id;
    std::string name;
    Duration seen_ago{};
    bool alive = false;
    std::int64_t partitions = 0;  ///< Under its lease.
};

/// How events leave, and what is wrong with it.
struct FeedStatus {
    std::string mode = "polling";  ///< "polling", "cdc" (through the server's log), or "leaving" (no longer).
    std::string slot;              ///< Empty where there never was one.
    bool slot_exists = false;
    bool slot_active = false;
    std::optional<std::int64_t> retained_bytes;  ///< Of the log, which the slot keeps the server from deleting.
    std::optional<Duration> streamed_ago;        ///< When a relay was last heard of that streams.
    std::int64_t slots_lost = 0;                 ///< Since the outbox was made.
    /// What someone must do something about, for people; empty: nothing.
    std::string trouble;
};

struct OutboxStatus {
    FeedStatus feed;
    std::int64_t pending = 0;
    std::int64_t waiting = 0;
    std::optional<Duration> oldest_age;  ///< Of the first event that has still to leave.
    std::int64_t parked = 0;
    std::vector<PartitionStatus> partitions;  ///< All of them, by number.
    std::vector<RelayStatus> relays;          ///< Also those that died in the last hour.
};

/// How the outbox is doing. Reads only, all of it as of one moment; counts every pending row.
[[nodiscard]] Result<OutboxStatus> outbox_status(Database& database, Deadline deadline);

}  // namespace semel
