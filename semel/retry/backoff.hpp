#pragma once

#include "semel/base/random.hpp"
#include "semel/base/time.hpp"
#include "semel/retry/policy.hpp"

#include <cstdint>

namespace semel {

/// The delays of one operation: exponential, capped, spread by chance. The same Random gives the
/// same delays on every machine. Trivially copyable.
class Backoff {
public:
    /// The delay before the next attempt: never negative, never above the cap, however often it
    /// is asked.
    [[nodiscard]] Duration next(const PolicySpec& spec, bool throttled, Random& random) noexcept;

private:
    Duration previous_{};  // For the decorrelated jitter; zero before the first delay.
    std::uint32_t doublings_ = 0;
};

}  // namespace semel
