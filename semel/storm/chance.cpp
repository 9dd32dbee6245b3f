#include "semel/storm/chance.hpp"

#include <cmath>
#include <numbers>

namespace semel::storm {

double uniform(Random& random) noexcept { return static_cast<double>(random.next() >> 11U) * 0x1.0p-53; }

Duration exponential(Duration mean, Random& random) noexcept {
    return Duration(std::llround(-std::log1p(-uniform(random)) * static_cast<double>(mean.count())));
}

Duration half_normal(Duration mean, Duration deviation, Random& random) noexcept {
    // Box and Muller; 1 - u is never zero.
    const double radius = std::sqrt(-2 * std::log1p(-uniform(random)));
    const double normal = radius * std::cos(2 * std::numbers::pi * uniform(random));
    return Duration(
        std::llround(std::abs(static_cast<double>(mean.count()) + normal * static_cast<double>(deviation.count()))));
}

}  // namespace semel::storm
