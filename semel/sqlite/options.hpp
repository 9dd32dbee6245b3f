#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace semel::sqlite {

struct StoreOptions {
    bool create = true;  ///< Makes the file if there is none. The directory must exist.
    /// Most transactions that share one COMMIT. 1 turns group commit off.
    std::size_t group_members_max = 256;
    /// Nobody joins a group that is older: so long may the first of it wait for the last. Many
    /// times an fsync, hence a longer group would hardly save more.
    Duration group_time_max = std::chrono::milliseconds(10);
    /// Longest pause between two statements of a transaction that holds the writer's turn while
    /// others wait. After it the transaction is undone (`conflict`), as a stuck handler would
    /// otherwise hold up every other command.
    Duration turn_pause_max = std::chrono::seconds(5);
    /// Longest wait for a lock of another process where no transaction's own limit applies: when
    /// opening, and at COMMIT.
    Duration lock_timeout = std::chrono::seconds(5);
    std::size_t statements_max = 256;  ///< Compiled statements kept per connection.
    int checkpoint_pages = 1000;       ///< The log is moved to the file when it has so many pages.
    /// Called once when the disk failed in such a way that only a restart can tell what is on it.
    /// An application exits here. Without one the failure is logged.
    std::function<void(const Error&)> on_fatal = {};
};

/// What happened since the store was opened: counts, which a busy machine does not blur.
struct StoreStats {
    std::uint64_t commits = 0;        ///< COMMITs that kept something; each is one fsync.
    std::uint64_t committed = 0;      ///< Transactions acknowledged by them.
    std::uint64_t refused = 0;        ///< Transactions whose own statements failed.
    std::uint64_t group_largest = 0;  ///< Most transactions that shared one COMMIT.
    std::uint64_t turns = 0;          ///< Transactions that took the writer's turn on their own thread.
    std::uint64_t jobs = 0;           ///< Transactions that were executed whole by a group's leader, reruns included.
    std::uint64_t dropped = 0;        ///< Transactions whose time ran out before they began.
    std::uint64_t destroyed = 0;      ///< Groups that one member rolled back.
    std::uint64_t reclaimed = 0;      ///< Turns taken back from a transaction that paused too long.
    std::uint64_t checkpoints = 0;
    std::size_t waiting = 0;  ///< Transactions in the queue now.
};

}  // namespace semel::sqlite
