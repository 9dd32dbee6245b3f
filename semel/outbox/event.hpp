#pragma once

#include "semel/message/aggregate.hpp"

#include <string>

namespace semel {

/// Something that happened, told in the transaction in which it did.
struct Event {
    Aggregate aggregate;
    std::string type;            ///< "payment.created"
    std::string payload;         ///< JSON
    std::string headers = "{}";  ///< A JSON object: traceparent, correlation id.
};

}  // namespace semel
