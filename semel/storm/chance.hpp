#pragma once

#include "semel/base/random.hpp"
#include "semel/base/time.hpp"

namespace semel::storm {

// Draws of the kinds that queueing models are made of; the same on every machine for the same seed.

/// In [0, 1).
[[nodiscard]] double uniform(Random& random) noexcept;
/// With this mean: the time between two events that know nothing of each other.
[[nodiscard]] Duration exponential(Duration mean, Random& random) noexcept;
/// The absolute value of a normal draw.
[[nodiscard]] Duration half_normal(Duration mean, Duration deviation, Random& random) noexcept;

}  // namespace semel::storm
