#pragma once

#include "semel/nats/address.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace semel::nats {

/// What a server says of itself before anyone has said anything: its version, "2.9.10"; empty if it could not be learnt
/// within the limit. The client's library knows it and does not tell.
[[nodiscard]] std::string server_version(const ServerAddress& server, Duration limit);

/// Whether a version is that or a later one; one that cannot be read is not.
[[nodiscard]] bool at_least(std::string_view version, int major, int minor);

/// What a person should know about a stream before relying on it.
[[nodiscard]] std::vector<std::string> durability_warnings(std::string_view version, bool in_memory,
                                                           std::int64_t replicas);

}  // namespace semel::nats
