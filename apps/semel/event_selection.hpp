#pragma once

#include "semel/base/result.hpp"
#include "semel/message/aggregate.hpp"
#include "semel/outbox/event_filter.hpp"

#include <string>

namespace semel::app {

/// Which events a verb is about, as written on the command line; empty: all.
struct EventSelection {
    std::string type;
    std::string since;
    std::string until;
    std::string aggregate;  ///< TYPE/ID
    std::string tenant;
};

/// "TYPE/ID". An Error (`rejected`) says how it is written.
[[nodiscard]] Result<Aggregate> parse_aggregate(const std::string& text);
/// The same for the library, up to `limit` events. An Error (`rejected`) says what is wrong.
[[nodiscard]] Result<EventFilter> filter_of(const EventSelection& selection, std::size_t limit, Timestamp now);

}  // namespace semel::app
