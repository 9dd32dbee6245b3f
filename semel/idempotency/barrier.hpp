#pragma once

#include "semel/base/outcome.hpp"
#include "semel/db/database.hpp"
#include "semel/idempotency/statements.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace semel {

/// Makes sure that what was seen in the database survives the loss of the primary. With a synchronous standby a
/// record can be visible before it is replicated (its COMMIT's wait was cut short, or the primary crashed and came
/// back); a transaction of one's own that waits for the standby covers everything before it. One barrier covers
/// everyone who came before it began: callers share them. Thread-safe.
class Barrier {
public:
    Barrier(Database& database, const Statements& statements) : database_(&database), statements_(statements) {}

    /// Returns once everything that was visible when it was called is replicated. An Error (`unknown`): that could
    /// not be made sure in time, so nothing may be concluded from what was seen.
    [[nodiscard]] Status pass(Deadline deadline);

    /// How many were sent.
    [[nodiscard]] std::uint64_t sent() const;

private:
    [[nodiscard]] Status send(Deadline deadline);

    Database* database_;
    Statements statements_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    bool running_ = false;
    std::uint64_t begun_ = 0;   ///< Barriers begun so far.
    std::uint64_t passed_ = 0;  ///< The last that succeeded; all before it are covered by it.
};

}  // namespace semel
