#pragma once

#include "semel/base/random.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/retry/attempt.hpp"
#include "semel/retry/progress.hpp"
#include "semel/retry/scope.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include <optional>
#include <stop_token>
#include <utility>

namespace semel {

namespace detail {

[[nodiscard]] inline bool is_cancelled(const boost::asio::cancellation_state& state) noexcept {
    return state.cancelled() != boost::asio::cancellation_type::none;
}

}  // namespace detail

/// Suspends the calling coroutine until `until` on the clock, without blocking its event loop.
/// `Wake::stopped` if a stop is requested, from any thread, or the coroutine is cancelled.
[[nodiscard]] boost::asio::awaitable<Wake> asio_sleep(Clock& clock, Instant until, const std::stop_token& stop);

/// `retry_blocking` for coroutines: the same decisions, from the same machine, without blocking
/// the event loop. `attempt` returns an awaitable of a Result<T> and may take its number, from 1.
/// Cancelled between attempts, it ends with Stop::stopped; during one, as the attempt sees fit.
/// `sleep` is what waits, for tests that do not.
///
/// The clock, the random and what the scope points to must outlive the coroutine; the rest is
/// copied into it. GCC 12 destroys twice what a lambda captures by value that is written within a
/// co_await expression: give such an attempt a name first.
template <class F, class Sleep = decltype(&asio_sleep)>
[[nodiscard]] auto retry_coroutine(Clock& clock, Random& random, Policy policy, RetryScope scope, F attempt,
                                   Sleep sleep = &asio_sleep) -> detail::AttemptResult<F> {
    const Instant started = clock.now();
    Breaker::Permit permit;
    if (const Stop stop = admit(scope, policy, started, permit); stop != Stop::none) {
        co_return fail(not_started(stop, scope, started));
    }
    if (scope.budget != nullptr) scope.budget->on_attempt(started);
    std::optional<RetryProgress> progress;
    for (;;) {
        auto result = co_await detail::call_attempt(attempt, progress ? progress->attempts() + 1 : 1);
        static_assert(detail::is_result<decltype(result)>, "an attempt returns an awaitable of a semel::Result");
        if (result) {
            permit.succeeded();
            co_return result;
        }
        if (!progress) progress.emplace(policy, scope, started);
        const Instant now = clock.now();
        Decision decision = progress->on_failure(result.error(), now, permit, random);
        if (decision.retry()) {
            // Awaiting anything in a cancelled coroutine throws, and the real error would be lost.
            const auto cancellation = co_await boost::asio::this_coro::cancellation_state;
            Wake wake = Wake::stopped;
            if (!detail::is_cancelled(cancellation)) wake = co_await sleep(clock, now + decision.delay, scope.stop);
            decision = progress->on_wake(wake, clock.now(), permit);
        }
        if (!decision.retry()) co_return fail(progress->stopped(std::move(result).error(), decision));
    }
}

}  // namespace semel
