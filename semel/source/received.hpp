#pragma once

#include "semel/base/digest.hpp"
#include "semel/message/message.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace semel {

/// A message as a consumer gets it, whoever sent it and by whatever broker.
struct ReceivedMessage {
    /// The sender's own, the same however often it is delivered. Where the sender gave none, the source makes one of what
    /// the broker knows it by: topic, partition and offset. Without any, or with one of more than 1,024 bytes, it cannot
    /// be told from a repeat and is parked.
    std::string id;
    std::string tenant{};
    std::string topic{};
    std::optional<std::int64_t> partition{};
    std::optional<std::int64_t> offset{};
    /// Messages with the same key are handled in the order of their arrival; none: in any order.
    std::string key{};
    std::string type{};     ///< "payment.created"
    std::string version{};  ///< Of the contract that the payload keeps.
    std::string payload{};
    std::string headers = "{}";  ///< A JSON object: traceparent, correlation id.

    friend bool operator==(const ReceivedMessage&, const ReceivedMessage&) = default;
};

/// What arrives when an event is delivered as it left the outbox: the event's id, and its aggregate as the key.
[[nodiscard]] ReceivedMessage received_from(const Message& message, std::string_view topic);

/// Says whether two messages tell the same: a digest of the payload's canonical form where it is JSON, else of its bytes,
/// with its type. Ids, headers and the place in the broker do not count.
[[nodiscard]] Digest content_hash(const ReceivedMessage& message);

/// Whether a database can hold it as it is: everything but the payload is UTF-8 without zero bytes.
[[nodiscard]] bool storable(const ReceivedMessage& message);
/// The same, with each field that no database could hold written as "hex:" and its bytes: nothing is lost.
[[nodiscard]] ReceivedMessage made_storable(ReceivedMessage message);

}  // namespace semel
