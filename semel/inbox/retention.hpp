#pragma once

#include "semel/db/database.hpp"

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace semel {

struct InboxRetentionOptions {
    /// How long a processed message is remembered: a repeat that comes later is processed once more. Longer than any
    /// broker keeps a message and anyone replays one.
    Duration window = std::chrono::hours(24 * 30);
    std::int64_t batch = 1000;  ///< Rows in one transaction: locks stay short.
};

struct InboxRetentionReport {
    std::int64_t messages = 0;
    std::int64_t attempts = 0;  ///< Counts of messages that never came to an end.
};

/// Forgets what was processed longer ago than the window, of all consumers, by the database's clock. Parked messages stay,
/// and if one of them was processed after all, that stays known too. Of a fact that another message told, by the same
/// business key, only the window is kept: a parked message that tells it once more is processed if it is redriven later.
/// Several may run at once. Stops early, between two batches, when asked to.
[[nodiscard]] Result<InboxRetentionReport> apply_inbox_retention(Database& database,
                                                                 const InboxRetentionOptions& options,
                                                                 Deadline deadline, const std::stop_token& stop = {});

}  // namespace semel
