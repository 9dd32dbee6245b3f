#pragma once

#include "semel/base/time.hpp"

#include <atomic>
#include <cstddef>
#include <optional>

namespace semel::http {

/// How long a request would wait for a worker, from how long the last ones took. Decides whether to
/// queue it at all: what cannot be served before its deadline is better refused at once, while the
/// caller can still do something else. Thread-safe.
class Load {
public:
    Load(std::size_t workers, std::size_t queue_max) noexcept : workers_(workers), queue_max_(queue_max) {}

    /// A handler took that long.
    void on_served(Duration took) noexcept;
    /// The moving average of what handlers take.
    [[nodiscard]] Duration usual() const noexcept { return Duration(usual_.load(std::memory_order_relaxed)); }

    /// Nothing: queue it. Else it is refused, and this is when to come back. `busy` workers serve,
    /// `queued` requests wait before it, `remaining` is left of its deadline.
    [[nodiscard]] std::optional<Duration> refuse(std::size_t busy, std::size_t queued,
                                                 Duration remaining) const noexcept;

private:
    std::size_t workers_;
    std::size_t queue_max_;
    std::atomic<Duration::rep> usual_{0};
};

}  // namespace semel::http
