#pragma once

#include "semel/db/database.hpp"
#include "semel/idempotency/statements.hpp"

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace semel {

struct RetentionOptions {
    /// How long a key whose reply is gone is still remembered. A repeat in that time is told so; after it, the key
    /// is as good as new.
    Duration tombstone = std::chrono::hours(24 * 30);
    std::int64_t batch = 1000;  ///< Rows in one transaction: locks stay short.
};

struct RetentionReport {
    std::int64_t expired = 0;    ///< Replies dropped; their keys are still remembered.
    std::int64_t forgotten = 0;  ///< Keys removed for good.
};

/// Drops the replies whose time is over and forgets the keys whose time is over too, by the database's clock. What
/// is unfinished is never touched. Several may run at once. Stops early, between two batches, when asked to.
[[nodiscard]] Result<RetentionReport> apply_retention(Database& database, const RetentionOptions& options,
                                                      Deadline deadline, const std::stop_token& stop = {});

}  // namespace semel
