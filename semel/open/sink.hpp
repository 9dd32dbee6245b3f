#pragma once

#include "semel/base/time.hpp"
#include "semel/sink/sink.hpp"
#include "semel/webhook/signature.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

/// What all sinks have in common, and what an address cannot say.
struct SinkOptions {
    std::string source = "/semel";           ///< Who tells the events: the source of the CloudEvents.
    bool structured = false;                 ///< One JSON document for each event, instead of the payload with headers.
    std::vector<webhook::Secret> secrets{};  ///< Of webhooks: every request is signed with each of them.
    bool allow_private = false;              ///< Of webhooks: also to private addresses, and without TLS.
    std::size_t parallel = 16;               ///< Of webhooks: requests at once, each of another aggregate.
};

/// Where events go, by an address: https://…, kafka://…, amqp://… and amqps://…, nats://… and tls://…, smtp://… and
/// smtps://…. The guides of each tell what may stand in it. An Error (`rejected`) says what is wrong with it, and never
/// shows a password.
[[nodiscard]] Result<std::unique_ptr<Sink>> open_sink(const std::string& address, const SinkOptions& options = {},
                                                      Clock& clock = system_clock());

}  // namespace semel
