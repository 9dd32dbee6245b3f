#include "semel/kafka/decode.hpp"

#include "semel/source/cloud_event.hpp"

namespace semel::kafka {

ReceivedMessage received_from(const RawMessage& raw) {
    std::vector<CloudEventAttribute> headers;
    headers.reserve(raw.headers.size());
    for (const auto& [name, value] : raw.headers) headers.push_back({std::string(name), std::string(value)});
    ReceivedMessage message = received_cloud_event(headers, "ce_", raw.value);
    message.topic = raw.topic;
    message.partition = raw.partition;
    message.offset = raw.offset;
    message.key = raw.key;
    if (message.id.empty())
        message.id = std::string(raw.topic) + "/" + std::to_string(raw.partition) + "/" + std::to_string(raw.offset);
    return message;
}

}  // namespace semel::kafka
