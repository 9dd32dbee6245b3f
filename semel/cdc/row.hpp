#pragma once

#include "semel/cdc/pgoutput.hpp"
#include "semel/message/message.hpp"

#include <array>
#include <cstdint>

namespace semel::cdc {

/// Where each column of an event stands in the rows of one relation; found by name, so that columns may be added and
/// stand in any order.
class EventColumns {
public:
    /// An Error names a column that is missing.
    [[nodiscard]] static Result<EventColumns> of(const pgoutput::Relation& relation);

    /// The relation of the outbox: others that a publication may hold are of no interest.
    [[nodiscard]] static bool is_outbox(const pgoutput::Relation& relation) noexcept {
        return relation.schema == "semel" && relation.name == "outbox_event";
    }

private:
    friend struct StreamedEvent;
    enum Name : std::size_t {
        event_id,
        position,
        aggregate,
        tenant,
        aggregate_type,
        aggregate_id,
        aggregate_version,
        type,
        payload,
        headers,
        partition,
        created_at,
        streamed,
        transaction_id,
        count,
    };
    std::array<std::size_t, count> places_{};
};

/// A row of outbox_event as it came from the log.
struct StreamedEvent {
    Message message;
    std::int64_t aggregate = 0;  ///< The aggregate's number.
    bool streamed = false;       ///< It leaves through the log; else it has a pending row.
    std::uint64_t transaction = 0;

    /// An Error (`broken`): the row is not what its relation says.
    [[nodiscard]] static Result<StreamedEvent> from(const pgoutput::Insert& row, const EventColumns& columns);
};

}  // namespace semel::cdc
