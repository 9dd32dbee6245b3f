#include "semel/relay/doorbell.hpp"

namespace semel {

void LocalDoorbell::ring() {
    {
        const std::lock_guard guard(mutex_);
        ++rings_;
    }
    rung_.notify_all();
}

std::uint64_t LocalDoorbell::rings() const {
    const std::lock_guard guard(mutex_);
    return rings_;
}

void LocalDoorbell::wait(std::uint64_t heard, Instant until, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (rings_ == heard && !stop.stop_requested())
        if (clock_->wait(lock, rung_, until, stop) != Wake::notified) return;
}

}  // namespace semel
