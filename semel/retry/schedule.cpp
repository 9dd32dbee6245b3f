#include "semel/retry/schedule.hpp"

#include "semel/retry/rule.hpp"

#include <algorithm>
#include <utility>

namespace semel {

Decision Schedule::on_failure(const Error& error, Repeat repeat, Instant now, Budget* budget, Breaker* breaker,
                              Random& random) noexcept {
    ++attempts_;
    if (!retryable(error.fault)) return {.stop = Stop::not_retryable};
    if (needs_idempotency(error.fault) && repeat == Repeat::unsafe) return {.stop = Stop::not_repeatable};
    if (owner_ == RetryOwner::outer) return {.stop = Stop::not_owner};

    if (attempts_ >= spec_.attempts) return {.stop = Stop::attempts};
    const Duration delay = delay_after(error, random);
    if (delay > spec_.elapsed - (now - started_)) return {.stop = Stop::elapsed};

    if (budget != nullptr && budget->left(now) < Budget::retry_cost) return {.stop = Stop::budget};
    if (breaker != nullptr && !breaker->would_admit(now + delay)) return {.stop = Stop::breaker};

    const Duration remaining = deadline_.remaining(now);
    // Asked to wait for longer than there is time, an earlier attempt would only be refused again.
    if (error.cause.retry_after && *error.cause.retry_after >= remaining) return {.stop = Stop::deadline};
    if (delay >= remaining || spec_.expected_attempt > remaining - delay) return {.stop = Stop::deadline};

    // Spent last, so that a retry which is not made costs nothing.
    if (budget != nullptr && !budget->try_spend(now)) return {.stop = Stop::budget};
    return {.delay = delay};
}

Duration Schedule::delay_after(const Error& error, Random& random) noexcept {
    Duration delay = backoff_.next(spec_, error.fault == Fault::throttled, random);
    if (error.cause.retry_after) delay = std::max(delay, std::min(*error.cause.retry_after, spec_.cap));
    // A pool or queue that was full a moment ago is still full: never try again at once.
    const Timeout timeout = error.cause.timeout;
    if (timeout == Timeout::pool || timeout == Timeout::queue) delay = std::max(delay, spec_.base);
    return delay;
}

Error stopped(Error last, const Schedule& schedule, Decision decision) {
    last.cause.stop = decision.stop;
    last.cause.attempts = schedule.attempts();
    return last;
}

Error after_a_doubt(Error last) {
    if (last.fault == Fault::unknown) return last;
    last.fault = Fault::unknown;
    return std::move(last).within("an earlier attempt may have been executed");
}

}  // namespace semel
