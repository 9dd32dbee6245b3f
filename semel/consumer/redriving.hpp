#pragma once

#include "semel/consumer/handling.hpp"
#include "semel/inbox/redrive_request.hpp"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>

namespace semel::detail {

/// Handles what people have asked for: parked messages, once more. One thread at a time.
class Redriving {
public:
    /// The database and the handling must outlive it.
    [[nodiscard]] static Result<std::unique_ptr<Redriving>> create(Database& database, Handling& handling);

    /// All requests that are due now; how many came to an end. An Error is the first one: the database is away, or what some
    /// handler needs. Such a request waits before it is due again (2 s, doubling to a minute; as long as the other side asked,
    /// up to a minute), and the others had their turn. Once one has come round again, the rest is left to the next call.
    [[nodiscard]] Result<std::size_t> run(const std::stop_token& stop);
    /// The same again and again, until it is stopped.
    void run_every(Duration pause, const std::stop_token& stop);

private:
    Redriving(Database& database, Handling& handling, RedriveRequests requests)
        : database_(&database), handling_(&handling), requests_(std::move(requests)) {}
    [[nodiscard]] Status redrive(const TakenRedrive& taken, const std::stop_token& stop);
    /// Ends the request, and the message stays parked.
    [[nodiscard]] Status keep(const TakenRedrive& taken, std::int32_t attempts_more, const std::string& reason);
    /// Always fails, with what it is told.
    [[nodiscard]] Status put_back(const TakenRedrive& taken, Error why);
    [[nodiscard]] Deadline soon() const;

    Database* database_;
    Handling* handling_;
    RedriveRequests requests_;
};

}  // namespace semel::detail
