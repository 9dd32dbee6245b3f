#pragma once

#include "semel/base/id.hpp"
#include "semel/db/catalogue.hpp"
#include "semel/db/database.hpp"
#include "semel/outbox/event_filter.hpp"
#include "semel/outbox/replay_audit.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace semel {

/// Which events are to be sent once more; the first by position.
using ReplayFilter = EventFilter;

struct ReplayPlan {
    std::vector<Uuid> events;         ///< By position, so that each aggregate is told in its order.
    std::optional<Timestamp> oldest;  ///< When the oldest of them was created.
};

/// Sends events once more that have left already. They go out under their own ids: whoever keeps an inbox takes them for
/// repeats for as long as it remembers them. What is pending or parked is left to the relay and to redrive. Thread-safe.
class EventReplay {
public:
    [[nodiscard]] static Result<EventReplay> of(Database& database);

    /// Looks, and changes nothing.
    [[nodiscard]] Result<ReplayPlan> find(const ReplayFilter& filter, Deadline deadline) const;
    /// Makes these events pending again, and writes it into the audit, in one transaction. Returns how many; fewer than
    /// given if some have become pending, parked or deleted meanwhile. Unknown: asking again sends nothing twice that
    /// is still pending.
    [[nodiscard]] Outcome<std::int64_t> send(std::span<const Uuid> events, const OutboxAudit& audit,
                                             Deadline deadline) const;

private:
    struct Statements {
        Sql find, insert, audit;
    };
    EventReplay(Database& database, const Statements& statements) : database_(&database), statements_(statements) {}

    Database* database_;
    Statements statements_;
};

}  // namespace semel
