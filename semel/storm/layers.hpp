#pragma once

#include "semel/retry/policy.hpp"

#include <cstdint>

namespace semel::storm {

/// A chain of services, each calling the next one and retrying when that fails. The last one calls something that is away.
struct LayersModel {
    std::uint32_t layers = 4;
    std::uint32_t attempts = 3;  ///< Of each layer.
    bool one_owner = false;      ///< Only the first layer retries; the others are told that somebody else does.
};

/// How many calls arrive at the end for one call at the front.
[[nodiscard]] std::uint64_t calls_at_the_end(const LayersModel& model);

}  // namespace semel::storm
