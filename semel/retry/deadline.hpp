#pragma once

#include "semel/base/time.hpp"

#include <algorithm>

namespace semel {

/// When a whole operation must be over. Passed inward, it only shrinks; a timeout, by contrast,
/// limits one step. On the wire it travels as the time that remains, never as a point in time.
class Deadline {
public:
    /// No deadline.
    constexpr Deadline() noexcept = default;
    [[nodiscard]] static constexpr Deadline never() noexcept { return {}; }
    [[nodiscard]] static constexpr Deadline at(Instant when) noexcept { return Deadline(when); }
    [[nodiscard]] static constexpr Deadline after(Instant now, Duration limit) noexcept {
        return limit >= Instant::max() - now ? never() : Deadline(now + limit);
    }

    [[nodiscard]] constexpr Instant at() const noexcept { return at_; }
    [[nodiscard]] constexpr bool is_never() const noexcept { return at_ == Instant::max(); }
    [[nodiscard]] constexpr bool passed(Instant now) const noexcept { return !is_never() && now >= at_; }
    /// Never negative; `Duration::max()` without a deadline.
    [[nodiscard]] constexpr Duration remaining(Instant now) const noexcept {
        return is_never() ? Duration::max() : std::max(Duration::zero(), at_ - now);
    }

    /// The sooner of this deadline and `limit` from now: what an inner step may use.
    [[nodiscard]] constexpr Deadline within(Instant now, Duration limit) const noexcept {
        return sooner(after(now, limit));
    }
    [[nodiscard]] constexpr Deadline sooner(Deadline other) const noexcept {
        return Deadline(std::min(at_, other.at_));
    }

    friend constexpr auto operator<=>(Deadline, Deadline) noexcept = default;

private:
    constexpr explicit Deadline(Instant when) noexcept : at_(when) {}
    Instant at_ = Instant::max();
};

}  // namespace semel
