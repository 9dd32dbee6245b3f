#pragma once

#include "semel/base/result.hpp"
#include "semel/retry/breaker.hpp"
#include "semel/retry/budget.hpp"
#include "semel/retry/deadline.hpp"
#include "semel/retry/owner.hpp"
#include "semel/retry/policy.hpp"
#include "semel/retry/repeat.hpp"

#include <stop_token>

namespace semel {

/// What the attempts of one operation run under: the guards of their dependency, and what the
/// caller allows.
struct RetryScope {
    Budget* budget = nullptr;    ///< The dependency's; null for none.
    Breaker* breaker = nullptr;  ///< The dependency's; null for none.
    Deadline deadline{};
    std::stop_token stop{};
    Repeat repeat = Repeat::unsafe;
    RetryOwner owner = RetryOwner::here;
};

/// Whether an attempt may start now; with a breaker, `permit` is then held. An attempt that is not
/// expected to end before the deadline does not start.
[[nodiscard]] inline Stop admit(const RetryScope& scope, const Policy& policy, Instant now,
                                Breaker::Permit& permit) noexcept {
    if (scope.stop.stop_requested()) [[unlikely]]
        return Stop::stopped;
    const Duration remaining = scope.deadline.remaining(now);
    if (remaining <= Duration::zero() || remaining < policy.spec().expected_attempt) [[unlikely]]
        return Stop::deadline;
    if (scope.breaker != nullptr) {
        permit = scope.breaker->acquire(now);
        if (!permit) [[unlikely]]
            return Stop::breaker;
    }
    return Stop::none;
}

/// The error of an operation whose first attempt was not admitted: nothing was done.
[[nodiscard]] Error not_started(Stop stop, const RetryScope& scope, Instant now);

}  // namespace semel
