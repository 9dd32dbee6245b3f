#pragma once

#include "semel/message/cloud_event.hpp"
#include "semel/source/received.hpp"

#include <span>
#include <string_view>

namespace semel {

/// A message as it arrives with headers and a body: a CloudEvent in binary or structured mode, or anything else. `prefix`
/// is the transport's own: "ce-" (HTTP, NATS), "ce_" (Kafka), "cloudEvents:" (AMQP); names of headers in any case.
///
/// The id is the event's own if that is a UUID, as those of an outbox are; else it is made of source and id, which together
/// are what CloudEvents calls unique: senders that count from one must not be taken for each other. The key is made of
/// tenant and subject. Attributes without a field of their own are in `headers`, and so are other
/// headers, under names in lower case. What is no CloudEvent has no id, type or key, and its body as the payload; so has
/// a document that says it is one and cannot be read. The payload is what was sent, byte for byte.
[[nodiscard]] ReceivedMessage received_cloud_event(std::span<const CloudEventAttribute> headers,
                                                   std::string_view prefix, std::string_view body,
                                                   HeaderEncoding encoding = HeaderEncoding::utf8);

}  // namespace semel
