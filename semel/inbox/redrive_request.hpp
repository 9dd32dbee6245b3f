#pragma once

#include "semel/db/catalogue.hpp"
#include "semel/db/database.hpp"
#include "semel/db/transaction.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace semel {

/// That a person wants a parked message to be handled once more.
struct RedriveRequest {
    std::string asked_by;
    bool begun = false;         ///< A consumer has taken it, and has not said how it ended.
    std::int32_t put_back = 0;  ///< How often it came to nothing, by no fault of the message.
};

/// A request that a consumer has taken.
struct TakenRedrive {
    std::string message_id;
    std::string taken_as;       ///< Of this taking alone: it says nothing of a request that was asked or taken since.
    std::int32_t begun = 0;     ///< How often it was begun without an end, this time included.
    std::int32_t put_back = 0;  ///< How often it was put back before.
};

/// What people ask of one consumer, whose handler only its own processes have: whoever asks leaves a request, and the
/// consumer takes it. Thread-safe.
class RedriveRequests {
public:
    [[nodiscard]] static Result<RedriveRequests> of(Database& database, std::string consumer);

    /// Asks, also for what was begun and has not ended. False: no message of that id is parked, and nothing was done.
    [[nodiscard]] Result<bool> ask(std::string_view message_id, std::string_view actor, Deadline deadline) const;
    [[nodiscard]] Result<std::optional<RedriveRequest>> look(std::string_view message_id, Deadline deadline) const;

    /// The request that is due longest, if one is; for the time of `lease` nobody else takes it. That is committed before any
    /// handler runs, and counted: so one that kills its process each time is known.
    [[nodiscard]] Result<std::optional<TakenRedrive>> take(Duration lease, Deadline deadline) const;
    /// It has ended, this way or that.
    [[nodiscard]] Status end(const TakenRedrive& taken, Deadline deadline) const;
    /// Posts its end, to commit with whatever else the transaction does.
    void end(Transaction& tx, const TakenRedrive& taken) const;
    /// It came to nothing by no fault of the message: to be taken again after a pause, and not counted as begun.
    [[nodiscard]] Status put_back(const TakenRedrive& taken, Duration pause, Deadline deadline) const;

private:
    struct Statements {
        Sql ask, look, take, end, put_back;
    };
    RedriveRequests(Database& database, std::string consumer, const Statements& statements)
        : database_(&database), consumer_(std::move(consumer)), statements_(statements) {}

    Database* database_;
    std::string consumer_;
    Statements statements_;
};

}  // namespace semel
