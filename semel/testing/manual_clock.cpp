#include "semel/testing/manual_clock.hpp"

namespace semel::testing {

Timestamp ManualClock::wall() const noexcept {
    const std::lock_guard guard(mutex_);
    return wall_;
}

Wake ManualClock::wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& condition, Instant until,
                       std::stop_token stop) {
    if (stop.stop_requested()) return Wake::stopped;
    if (waiting_ == Waiting::jumps && until != Instant::max()) {
        const Duration ahead = until - now();
        if (ahead > Duration::zero()) advance(ahead);
        return Wake::timeout;
    }
    {
        const std::lock_guard guard(mutex_);
        ++waiters_;
        waiters_changed_.notify_all();
    }
    // Looks at the hands of the clock every millisecond: `advance` cannot notify without taking the
    // caller's mutex, and whoever advances may hold it. Each look is a (spurious) wake: a
    // notification that comes between two looks finds nobody waiting, so the caller must look too.
    if (now() < until) condition.wait_for(lock, std::chrono::milliseconds(1));
    Wake wake = Wake::notified;
    if (now() >= until) wake = Wake::timeout;
    if (stop.stop_requested()) wake = Wake::stopped;
    const std::lock_guard guard(mutex_);
    --waiters_;
    return wake;
}

void ManualClock::advance(Duration by) {
    const std::lock_guard guard(mutex_);
    now_.fetch_add(by.count(), std::memory_order_acq_rel);
    wall_ += std::chrono::duration_cast<Timestamp::duration>(by);
}

void ManualClock::set_wall(Timestamp wall) {
    const std::lock_guard guard(mutex_);
    wall_ = wall;
}

void ManualClock::await_waiters(std::size_t count) {
    std::unique_lock lock(mutex_);
    waiters_changed_.wait(lock, [&] { return waiters_ >= count; });
}

}  // namespace semel::testing
