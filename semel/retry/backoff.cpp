#include "semel/retry/backoff.hpp"

#include <algorithm>

namespace semel {
namespace {

/// Uniform in [least, most].
Duration between(Duration least, Duration most, Random& random) noexcept {
    const auto width = static_cast<std::uint64_t>((most - least).count()) + 1;
    return least + Duration(random.below(width));
}

/// base × 2^doublings, at most the cap. Compares before it shifts, so that it cannot overflow.
Duration exponential(Duration base, Duration cap, std::uint32_t doublings) noexcept {
    if (doublings >= 63 || base.count() > (cap.count() >> doublings)) return cap;
    return Duration(base.count() << doublings);
}

}  // namespace

Duration Backoff::next(const PolicySpec& spec, bool throttled, Random& random) noexcept {
    const Duration base = throttled ? spec.throttled_base : spec.base;
    const Duration ceiling = exponential(base, spec.cap, doublings_);
    // Past 63 doublings every ceiling is the cap; stopping there keeps the count from wrapping.
    if (doublings_ < 63) ++doublings_;
    switch (spec.jitter) {
        case Jitter::none: return ceiling;
        case Jitter::full: return between(Duration::zero(), ceiling, random);
        case Jitter::equal: return ceiling - between(Duration::zero(), ceiling / 2, random);
        case Jitter::decorrelated: break;
    }
    // A previous delay from before the throttling may lie below the base of now. It never exceeds
    // the cap, whose limit keeps three times as much far from overflowing.
    const Duration before = std::max(previous_, base);
    previous_ = std::min(spec.cap, between(base, 3 * before, random));
    return previous_;
}

}  // namespace semel
