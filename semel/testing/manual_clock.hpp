#pragma once

#include "semel/base/time.hpp"

#include <atomic>
#include <cstddef>

namespace semel::testing {

/// A clock that moves only when told to. Thread-safe.
class ManualClock final : public Clock {
public:
    enum class Waiting : unsigned char {
        jumps,   ///< A wait with an end moves the clock to that end and returns: one thread, no waiting.
        blocks,  ///< A wait blocks until another thread advances the clock, notifies or stops it.
    };

    explicit ManualClock(Waiting waiting = Waiting::jumps) noexcept : waiting_(waiting) {}

    [[nodiscard]] Instant now() const noexcept override {
        return Instant(Duration(now_.load(std::memory_order_acquire)));
    }
    [[nodiscard]] Timestamp wall() const noexcept override;
    Wake wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& condition, Instant until,
              std::stop_token stop) override;

    /// Moves the clock; everyone whose time has come wakes.
    void advance(Duration by);
    /// Moves the calendar alone, as an operator or a time server does.
    void set_wall(Timestamp wall);
    /// Blocks the calling test until `count` threads wait on this clock.
    void await_waiters(std::size_t count);

private:
    Waiting waiting_;
    mutable std::mutex mutex_;
    std::condition_variable waiters_changed_;
    std::size_t waiters_ = 0;
    // Read without the mutex, so that measuring with this clock measures something else. Not zero,
    // so that a forgotten initialisation shows.
    std::atomic<Duration::rep> now_{Duration(std::chrono::hours(1)).count()};
    Timestamp wall_{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};
};

}  // namespace semel::testing
