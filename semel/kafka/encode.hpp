#pragma once

#include "semel/base/result.hpp"
#include "semel/message/cloud_event.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace semel::kafka {

enum class Mode : unsigned char {
    binary,      ///< The payload is the value, the attributes are headers `ce_…`.
    structured,  ///< The value is one JSON document with both.
};

/// What is written to a topic.
struct Record {
    std::string topic{};
    std::string key{};
    std::string value{};
    std::vector<CloudEventAttribute> headers{};
};

/// The aggregate as one key that no other has: each part behind its length. Events of an aggregate go to one partition.
[[nodiscard]] std::string aggregate_key(const Message& message);

/// The topic by its template, in which {tenant}, {aggregate} (its type) and {type} stand for those of the event. An Error
/// (`rejected`): Kafka knows no topic of that name.
[[nodiscard]] Result<std::string> topic_of(const Message& message, std::string_view form);
/// Whether the template can be used at all.
[[nodiscard]] Status check_topic(std::string_view form);

/// The event as a CloudEvent by the Kafka protocol binding.
[[nodiscard]] Result<Record> record_of(const Message& message, const CloudEventOptions& options, Mode mode,
                                       std::string_view topic_form);

}  // namespace semel::kafka
