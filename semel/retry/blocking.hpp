#pragma once

#include "semel/base/random.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/retry/attempt.hpp"
#include "semel/retry/progress.hpp"
#include "semel/retry/scope.hpp"

#include <optional>
#include <utility>

namespace semel {

namespace detail {

/// The slow path of `retry_blocking`: decides after a failed attempt and waits out the delay.
[[nodiscard]] Decision decide_and_wait(Clock& clock, Random& random, RetryProgress& progress, const RetryScope& scope,
                                       Breaker::Permit& permit, const Error& error);

}  // namespace detail

/// Runs `attempt` until it succeeds or retrying stops, on the calling thread. `attempt` returns a
/// Result<T> and may take its number, from 1. Waits only through the clock, and a stop request
/// ends the wait; it does not interrupt an attempt.
///
/// The Error is the last real one, with `cause.stop` and `cause.attempts`; its fault is `unknown` if
/// the outcome of any attempt was, since a later failure does not settle that. If the first attempt
/// was not admitted, it says so, with no attempts. A first attempt that succeeds costs one reading
/// of the clock and allocates nothing.
template <class F>
[[nodiscard]] auto retry_blocking(Clock& clock, Random& random, const Policy& policy, const RetryScope& scope,
                                  F&& attempt) -> detail::AttemptResult<F> {
    static_assert(detail::is_result<detail::AttemptResult<F>>, "an attempt returns a semel::Result");
    const Instant started = clock.now();
    Breaker::Permit permit;
    if (const Stop stop = admit(scope, policy, started, permit); stop != Stop::none) [[unlikely]] {
        return fail(not_started(stop, scope, started));
    }
    if (scope.budget != nullptr) scope.budget->on_attempt(started);
    std::optional<RetryProgress> progress;
    for (;;) {
        auto result = detail::call_attempt(attempt, progress ? progress->attempts() + 1 : 1);
        if (result) [[likely]] {
            permit.succeeded();
            return result;
        }
        if (!progress) progress.emplace(policy, scope, started);
        const Decision decision = detail::decide_and_wait(clock, random, *progress, scope, permit, result.error());
        if (!decision.retry()) return fail(progress->stopped(std::move(result).error(), decision));
    }
}

}  // namespace semel
