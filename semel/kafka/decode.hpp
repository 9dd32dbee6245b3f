#pragma once

#include "semel/source/received.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semel::kafka {

/// A message of a topic, as the broker gives it. Views are borrowed.
struct RawMessage {
    std::string_view topic;
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    std::string_view key;
    std::string_view value;
    std::vector<std::pair<std::string_view, std::string_view>> headers;
};

/// As a consumer gets it. A CloudEvent in either mode says its own id, type and tenant; of any other message the id is
/// topic, partition and offset. Headers that have no field of their own are kept by their names, those of a CloudEvent
/// without "ce_". A document that says it is a CloudEvent and cannot be read as one arrives as it is.
[[nodiscard]] ReceivedMessage received_from(const RawMessage& raw);

}  // namespace semel::kafka
