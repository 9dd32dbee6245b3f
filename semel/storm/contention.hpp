#pragma once

#include "semel/retry/policy.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace semel::storm {

/// Clients that all want to change one row: each reads its version, writes over that version, and after a conflict waits and
/// begins anew. The model by which jitter was made known.
struct ContentionModel {
    std::uint32_t clients = 100;
    Duration leg = std::chrono::milliseconds(10);  ///< Mean time of one way over the network …
    Duration leg_deviation = std::chrono::milliseconds(2);
    /// How a client waits after a conflict; none: not at all.
    std::optional<PolicySpec> policy{};
};

struct ContentionResult {
    Duration completion{};                 ///< Until the last client was done.
    std::uint64_t calls = 0;               ///< Writes that the server saw.
    std::vector<std::uint32_t> by_time{};  ///< Writes in each tenth of a second.
};

/// One run; the same for the same seed.
[[nodiscard]] ContentionResult run(const ContentionModel& model, std::uint64_t seed);

/// The published policies: base 5 ms, cap 2 s, with the attempt counted before the delay, so that the first delay is already
/// doubled where delays double.
[[nodiscard]] PolicySpec published_policy(Jitter jitter);

}  // namespace semel::storm
