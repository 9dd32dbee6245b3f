#pragma once

#include "semel/base/id.hpp"
#include "semel/base/time.hpp"
#include "semel/message/aggregate.hpp"

#include <cstdint>
#include <string>

namespace semel {

/// An event on its way: what a relay hands to a sink. The id is the event's own and stays the same however often it is
/// sent, so that whoever receives it can tell a repeat.
struct Message {
    Uuid id;
    std::string tenant;
    Aggregate aggregate;
    std::string type;     ///< "payment.created"
    std::string payload;  ///< JSON.
    std::string headers;  ///< A JSON object: traceparent, correlation id.
    Timestamp created_at;
    std::int64_t position = 0;  ///< Orders the events of one aggregate; says nothing across aggregates.
    std::int32_t partition = 0;
};

}  // namespace semel
