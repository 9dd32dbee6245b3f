#pragma once

#include "semel/nats/mailbox.hpp"
#include "semel/source/received.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace semel::nats {

/// What the subject by which a delivery is acknowledged says about it.
struct DeliveryFacts {
    std::string stream;
    std::uint64_t times = 0;     ///< Delivered, this time included.
    std::uint64_t sequence = 0;  ///< In the stream.
};

/// Reads `$JS.ACK.<stream>.<consumer>.<times>.<sequence>.…`, with or without a domain; nothing if it is not like that.
[[nodiscard]] std::optional<DeliveryFacts> delivery_facts(std::string_view reply);

/// The status that a server sent instead of a message (404: none, 408: too late, 409: why not, 503: nobody); 0 for a
/// message.
[[nodiscard]] int status_of(const NatsMessage& message);

/// The message as a consumer gets it.
[[nodiscard]] ReceivedMessage received_from(const NatsMessage& message, const DeliveryFacts& facts);

}  // namespace semel::nats
