#pragma once

#include "semel/db/database.hpp"
#include "semel/message/message.hpp"
#include "semel/outbox/event_filter.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace semel {

/// An event and where it stands: it has still to leave, it is parked, or neither, and then it has left.
struct EventStatus {
    Message message;
    bool pending = false;
    std::int32_t attempts = 0;  ///< That failed.
    std::optional<Duration> next_attempt_in;
    std::string last_error;
    std::optional<std::string> parked_because;

    [[nodiscard]] bool left() const noexcept { return !pending && !parked_because; }
};

/// The first `limit` events that have still to leave, by position.
[[nodiscard]] Result<std::vector<EventStatus>> list_pending(Database& database, std::size_t limit, Deadline deadline);
/// Nothing if there is no such event, or no longer.
[[nodiscard]] Result<std::optional<EventStatus>> show_event(Database& database, const Uuid& id, Deadline deadline);
/// The next `filter.limit` events behind `after` in the order of their ids, which is roughly that of time, whatever became
/// of them. For going through all of them page by page; what is appended meanwhile may be left out.
[[nodiscard]] Result<std::vector<Message>> page_of_events(Database& database, const EventFilter& filter,
                                                          const Uuid& after, Deadline deadline);

}  // namespace semel
