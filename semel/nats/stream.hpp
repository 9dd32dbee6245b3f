#pragma once

#include "semel/base/result.hpp"
#include "semel/nats/link.hpp"
#include "semel/nats/sink.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace semel::nats {

/// A stream as the server has it.
struct StreamView {
    std::vector<std::string> subjects;
    bool in_memory = false;
    std::int64_t replicas = 1;
};

/// Rejected: there is no such stream. Otherwise the Fault is that of the server's answer, or `unavailable`.
[[nodiscard]] Result<StreamView> find_stream(const Link& link, const std::string& name, Duration limit);
/// The same, and makes it if it is not there and that is wanted.
[[nodiscard]] Result<StreamView> find_or_make_stream(const Link& link, const std::string& name,
                                                     const StreamOptions& options, Duration limit);

}  // namespace semel::nats
