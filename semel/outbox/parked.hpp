#pragma once

#include "semel/base/id.hpp"
#include "semel/db/catalogue.hpp"
#include "semel/db/database.hpp"
#include "semel/message/aggregate.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

/// An event that was set aside, and why.
struct ParkedEvent {
    Uuid id;
    std::int64_t position = 0;
    std::int32_t partition = 0;
    std::string tenant;
    Aggregate aggregate;
    std::int32_t attempts = 0;
    std::string reason;
    bool blocks = true;  ///< Later events of its aggregate are set aside behind it.
    Timestamp parked_at;
};

/// The events that wait for a person. Thread-safe.
class Parked {
public:
    [[nodiscard]] static Result<Parked> of(Database& database);

    /// The first `limit` by position.
    [[nodiscard]] Result<std::vector<ParkedEvent>> list(std::size_t limit, Deadline deadline) const;

    /// Sends what is parked of one aggregate once more, in order and ahead of everything of it that comes later. Events
    /// that were skipped come after those that went on without them. Returns how many; Unknown: ask again, nothing is
    /// sent twice by that.
    [[nodiscard]] Outcome<std::int64_t> redrive(std::string_view tenant, const Aggregate& aggregate,
                                                Deadline deadline) const;

private:
    struct Statements {
        Sql list, lock, redrive, forget;
    };
    Parked(Database& database, const Statements& statements) : database_(&database), statements_(statements) {}

    Database* database_;
    Statements statements_;
};

}  // namespace semel
