#pragma once

#include "semel/base/result.hpp"
#include "semel/message/message.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace semel {

struct CloudEventOptions {
    std::string source;  ///< A URI reference that says who tells: "/shop/orders". Must not be empty.
};

/// One attribute of a CloudEvent, named as the specification does: lower-case letters and digits.
struct CloudEventAttribute {
    std::string name;
    std::string value;
    friend bool operator==(const CloudEventAttribute&, const CloudEventAttribute&) = default;
};

/// The attributes of a message by CloudEvents 1.0: specversion, id, source, type, subject (aggregate type/id), time,
/// datacontenttype, and the extensions tenant, aggregateversion, traceparent, tracestate and correlationid where there are any. The
/// order is always the same. An Error (`rejected`): the message can never be told as a CloudEvent.
[[nodiscard]] Result<std::vector<CloudEventAttribute>> cloud_event_attributes(const Message& message,
                                                                              const CloudEventOptions& options);

/// How header values are written by the transport.
enum class HeaderEncoding : unsigned char {
    utf8,     ///< As they are: Kafka, AMQP, NATS.
    percent,  ///< HTTP: what is not a printable ASCII character, spaces, quotes and percent signs as %XX.
};

/// Binary mode: attributes as headers, the payload as the body. `prefix` is the transport's own: "ce-" (HTTP, NATS),
/// "ce_" (Kafka), "cloudEvents:" (AMQP). The content type goes by its usual name.
struct BinaryCloudEvent {
    std::vector<CloudEventAttribute> headers;
    std::string_view body;  ///< Borrowed from the message.
};
[[nodiscard]] Result<BinaryCloudEvent> binary_cloud_event(const Message& message, const CloudEventOptions& options,
                                                          std::string_view prefix, HeaderEncoding encoding);

/// Structured mode: one JSON document (application/cloudevents+json), with the payload in it byte for byte.
[[nodiscard]] Result<std::string> structured_cloud_event(const Message& message, const CloudEventOptions& options);

}  // namespace semel
