#pragma once

#include "semel/base/time.hpp"

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace semel::storm {

/// A world in which time passes only from one event to the next. What happens at the same time happens in the order in
/// which it was asked for, so that the same seed gives the same world.
class Engine {
public:
    using Action = std::function<void()>;

    [[nodiscard]] Instant now() const noexcept { return now_; }
    [[nodiscard]] double seconds() const noexcept {
        return std::chrono::duration<double>(now_.time_since_epoch()).count();
    }

    /// Does `action` that much later; at once, behind what is already due, if the delay is not positive.
    void after(Duration delay, Action action) {
        const Instant when = delay > Duration::zero() ? now_ + delay : now_;
        events_.push({.when = when, .order = order_++, .action = std::move(action)});
    }

    /// Until nothing is left to happen, or `end` is reached.
    void run(Instant end = Instant::max()) {
        while (!events_.empty() && events_.top().when <= end) {
            // The queue gives only const access to what is about to be removed.
            Event next = std::move(const_cast<Event&>(events_.top()));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
            events_.pop();
            now_ = next.when;
            next.action();
        }
        if (end != Instant::max()) now_ = end;
    }

private:
    struct Event {
        Instant when;
        std::uint64_t order;
        Action action;
        friend bool operator<(const Event& a, const Event& b) noexcept {
            return a.when != b.when ? a.when > b.when : a.order > b.order;
        }
    };
    std::priority_queue<Event> events_;
    std::uint64_t order_ = 0;
    Instant now_{};
};

}  // namespace semel::storm
