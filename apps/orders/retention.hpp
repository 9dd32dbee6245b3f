#pragma once

#include "semel/idempotency/retention.hpp"

#include <thread>

namespace orders {

/// Applies retention, of replies and of messages that were consumed, in the background, again and again, as long as it lives. A pass that fails is told to the log; the
/// next one makes up for it.
class RetentionRunner {
public:
    /// The database must outlive it.
    RetentionRunner(semel::Database& database, const semel::RetentionOptions& options, semel::Duration every);

private:
    std::jthread thread_;
};

}  // namespace orders
