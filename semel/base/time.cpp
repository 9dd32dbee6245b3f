#include "semel/base/time.hpp"

#include <utility>

namespace semel {
namespace {

class SystemClock final : public Clock {
public:
    Instant now() const noexcept override {
        return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
    }

    Timestamp wall() const noexcept override {
        return std::chrono::time_point_cast<Timestamp::duration>(std::chrono::system_clock::now());
    }

    Wake wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& condition, Instant until,
              std::stop_token stop) override {
        // False before the wait and true after the first wake: one wait, whatever woke it. The
        // library's own stop support is used because a callback of ours that takes the caller's
        // mutex could be destroyed while it waits for that mutex.
        bool looked = false;
        const auto woken = [&looked] { return std::exchange(looked, true); };
        if (until == Instant::max()) {
            condition.wait(lock, stop, woken);
        } else {
            condition.wait_until(lock, stop, until, woken);
        }
        if (stop.stop_requested()) return Wake::stopped;
        return now() >= until ? Wake::timeout : Wake::notified;
    }
};

}  // namespace

Wake Clock::sleep(Instant until, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any condition;
    std::unique_lock lock(mutex);
    for (;;) {
        const Wake wake = wait(lock, condition, until, stop);
        if (wake != Wake::notified) return wake;
        if (now() >= until) return Wake::timeout;
    }
}

Clock& system_clock() noexcept {
    static SystemClock clock;
    return clock;
}

}  // namespace semel
