#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace semel {

using Duration = std::chrono::nanoseconds;
/// Monotonic: for deadlines, delays and elapsed time. Means nothing in another process.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;
/// The calendar: for ids, records and people. May jump; never measure with it.
using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;

enum class Wake : unsigned char {
    notified,  ///< Someone notified the condition (or it woke spuriously): look again.
    timeout,   ///< The time has come.
    stopped,   ///< A stop was requested.
};

/// The one source of time. Every wait of a runner goes through `wait`, so that a test decides
/// when time passes and a simulator can run its processes one at a time. Thread-safe.
class Clock {
public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual Instant now() const noexcept = 0;
    [[nodiscard]] virtual Timestamp wall() const noexcept = 0;

    /// Releases `lock` and blocks until `condition` is notified, `until` is reached or `stop` is
    /// requested; holds `lock` again on return.
    virtual Wake wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& condition, Instant until,
                      std::stop_token stop) = 0;

    /// Sleeps until `until`, or until `stop` is requested. `Wake::timeout` means it slept through.
    Wake sleep(Instant until, const std::stop_token& stop);
};

/// The machine's own clock.
[[nodiscard]] Clock& system_clock() noexcept;

}  // namespace semel
