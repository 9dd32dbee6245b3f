#pragma once

#include "semel/base/time.hpp"
#include "semel/source/source.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace semel {

/// Where messages come from, by an address: kafka://…, amqp://… and amqps://…, nats://… and tls://…. `consumer` names the
/// consumer group, the durable consumer or the queue, unless the address does: the same in all processes and after
/// every restart. An Error (`rejected`) says what is wrong with the address, and never shows a password.
[[nodiscard]] Result<std::unique_ptr<Source>> open_source(const std::string& address, std::string_view consumer,
                                                          Clock& clock = system_clock());

}  // namespace semel
