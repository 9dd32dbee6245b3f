#include "semel/http/load.hpp"

#include <algorithm>

namespace semel::http {
namespace {

/// An eighth for the newest: follows a change within a few dozen requests, and no single slow one
/// closes the door.
constexpr Duration::rep weight = 8;
/// One slow handler must not make the estimate overflow.
constexpr Duration took_max = std::chrono::hours(1);

}  // namespace

void Load::on_served(Duration took) noexcept {
    const Duration::rep newest = std::clamp(took, Duration::zero(), took_max).count();
    Duration::rep usual = usual_.load(std::memory_order_relaxed);
    while (!usual_.compare_exchange_weak(usual, usual + (newest - usual) / weight, std::memory_order_relaxed)) {}
}

std::optional<Duration> Load::refuse(std::size_t busy, std::size_t queued, Duration remaining) const noexcept {
    // A free worker takes it now, whatever the estimate says: that is how the estimate recovers.
    if (busy + queued < workers_) return std::nullopt;
    const Duration wait = usual() * static_cast<Duration::rep>(queued + 1) / static_cast<Duration::rep>(workers_);
    if (queued >= queue_max_) return wait;
    if (wait + usual() > remaining) return wait;
    return std::nullopt;
}

}  // namespace semel::http
