#pragma once

#include "semel/base/random.hpp"
#include "semel/base/result.hpp"
#include "semel/retry/backoff.hpp"
#include "semel/retry/breaker.hpp"
#include "semel/retry/budget.hpp"
#include "semel/retry/deadline.hpp"
#include "semel/retry/owner.hpp"
#include "semel/retry/policy.hpp"
#include "semel/retry/repeat.hpp"

#include <cstdint>
#include <type_traits>

namespace semel {

/// What to do after a failed attempt: wait for `delay` and try again, or stop and why.
struct Decision {
    Stop stop = Stop::none;
    Duration delay{};

    [[nodiscard]] constexpr bool retry() const noexcept { return stop == Stop::none; }
    friend constexpr bool operator==(const Decision&, const Decision&) = default;
};

/// One operation's progress through a Policy. Pure: time, chance and failures come in, decisions
/// go out; so threads, coroutines and the simulator run the same machine. Trivially copyable.
///
/// Whoever runs the attempts takes the Breaker's permits, reports to it, and deposits the first
/// try in the Budget; the Schedule only asks the Breaker, and spends from the Budget for each
/// retry that it grants.
class Schedule {
public:
    Schedule(const Policy& policy, Instant started, Deadline deadline = Deadline::never(),
             RetryOwner owner = RetryOwner::here) noexcept
        : spec_(policy.spec()), started_(started), deadline_(deadline), owner_(owner) {}

    /// The questions, in order: would another attempt end differently? May it be repeated? Are
    /// attempts and time left? Does the budget bear it? Is the breaker closed? Do the delay and
    /// the expected attempt fit before the deadline?
    [[nodiscard]] Decision on_failure(const Error& error, Repeat repeat, Instant now, Budget& budget, Breaker& breaker,
                                      Random& random) noexcept {
        return on_failure(error, repeat, now, &budget, &breaker, random);
    }
    /// The same, without a budget or a breaker where the pointer is null.
    [[nodiscard]] Decision on_failure(const Error& error, Repeat repeat, Instant now, Budget* budget, Breaker* breaker,
                                      Random& random) noexcept;

    /// How many attempts have failed so far.
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempts_; }

private:
    [[nodiscard]] Duration delay_after(const Error& error, Random& random) noexcept;

    PolicySpec spec_;
    Instant started_;
    Deadline deadline_;
    Backoff backoff_;
    std::uint32_t attempts_ = 0;
    RetryOwner owner_;
};

static_assert(std::is_trivially_copyable_v<Schedule>);

/// The error to return when retrying stopped: the last real one, with the reason and the number
/// of attempts.
[[nodiscard]] Error stopped(Error last, const Schedule& schedule, Decision decision);

/// The same failure after an earlier attempt whose outcome was never learnt: `unknown`, whatever the
/// last attempt says of itself, and the message tells so. Code, stop and the rest stay.
[[nodiscard]] Error after_a_doubt(Error last);

}  // namespace semel
