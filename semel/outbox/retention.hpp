#pragma once

#include "semel/base/id.hpp"
#include "semel/db/catalogue.hpp"
#include "semel/db/database.hpp"
#include "semel/outbox/replay_audit.hpp"

#include <cstdint>

namespace semel {

/// Deletes events that left long ago. An event that is pending or parked stays, however old. The versions of aggregates
/// stay too: they keep the same change from being told twice. Thread-safe; several may do it at once.
class OutboxRetention {
public:
    [[nodiscard]] static Result<OutboxRetention> of(Database& database);

    struct Batch {
        std::int64_t deleted = 0;
        Uuid last{};        ///< Where the next batch begins.
        bool more = false;  ///< There may be more behind it.
    };
    /// The next events behind `after`, at most `limit`, of those older than `age` by the database's clock; deleted and
    /// written into the audit in one transaction of their own. Begin with Uuid().
    [[nodiscard]] Outcome<Batch> prune(Duration age, const Uuid& after, std::size_t limit, const OutboxAudit& audit,
                                       Deadline deadline) const;

private:
    struct Statements {
        Sql find, remove, audit;
    };
    OutboxRetention(Database& database, const Statements& statements) : database_(&database), statements_(statements) {}

    Database* database_;
    Statements statements_;
};

}  // namespace semel
