#pragma once

#include "semel/db/catalogue.hpp"
#include "semel/db/database.hpp"
#include "semel/db/transaction.hpp"
#include "semel/message/message.hpp"
#include "semel/outbox/partitions.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace semel {

/// The row that says that an event has still to leave, and where to find it.
struct PendingRow {
    std::int64_t id = 0;  ///< Another one if the event is sent once more.
    std::int64_t position = 0;
    std::int32_t partition = 0;
    friend bool operator==(const PendingRow&, const PendingRow&) = default;
};

/// An event that has still to leave.
struct PendingEvent {
    PendingRow row;
    std::int64_t aggregate = 0;  ///< The aggregate's number: AggregatePlace::number.
    std::int32_t attempts = 0;   ///< So far.
    bool behind_parked = false;  ///< An earlier event of its aggregate is parked and blocks: it must not leave.
};

struct PendingBatch {
    std::vector<PendingEvent> events;  ///< In the order of their positions.
    std::vector<Message> messages;     ///< What each of them says.
    /// What was read may be lost with the primary: before anyone may see it, a transaction that was begun after the
    /// read must have waited for the synchronous standby.
    bool replicated = false;
};

/// An event that was not taken and is to be tried again.
struct Failure {
    PendingRow row;
    HeldPartition under;
    std::int32_t attempts = 0;
    Duration delay{};
    std::string reason{};
};

/// An event that is set aside.
struct Parking {
    PendingRow row;
    HeldPartition under;
    std::int32_t attempts = 0;
    bool blocks = true;    ///< Later events of its aggregate are set aside behind it.
    bool follows = false;  ///< Only because an earlier one of its aggregate is set aside, if it still is.
    std::string reason{};
};

/// What a relay has to write down after it published.
struct Settlement {
    std::vector<PendingRow> acknowledged;
    std::vector<Failure> failures;
    std::vector<Parking> parked;
    [[nodiscard]] bool empty() const noexcept { return acknowledged.empty() && failures.empty() && parked.empty(); }
};

/// The reading end of the outbox: what has still to leave, and what became of it. Thread-safe.
class Pending {
public:
    [[nodiscard]] static Result<Pending> of(Database& database, const Uuid& relay);

    /// The first `each` events of every partition, in order. An event that waits for its next attempt hides the later
    /// ones of its aggregate. No transaction stays open.
    [[nodiscard]] Result<PendingBatch> read(std::span<const HeldPartition> partitions, std::size_t each,
                                            Deadline deadline) const;
    /// Writes everything down in one transaction; doing it again changes nothing. Acknowledged rows are deleted whoever
    /// holds their partition; failures and parkings of a partition that changed hands are left out.
    [[nodiscard]] Status settle(const Settlement& settlement, Deadline deadline) const;
    /// The same as part of a transaction.
    void post_settlement(Transaction& tx, const Settlement& settlement) const;

private:
    struct Statements {
        Sql plan, read, remove, forget, fail, park, park_remove;
    };
    Pending(Database& database, const Statements& statements, const Uuid& relay)
        : database_(&database), statements_(statements), relay_(relay) {}

    Database* database_;
    Statements statements_;
    Uuid relay_;
};

}  // namespace semel
