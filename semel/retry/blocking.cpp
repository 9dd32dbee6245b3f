#include "semel/retry/blocking.hpp"

namespace semel::detail {

Decision decide_and_wait(Clock& clock, Random& random, RetryProgress& progress, const RetryScope& scope,
                         Breaker::Permit& permit, const Error& error) {
    const Instant now = clock.now();
    const Decision decision = progress.on_failure(error, now, permit, random);
    if (!decision.retry()) return decision;
    const Wake wake = clock.sleep(now + decision.delay, scope.stop);
    return progress.on_wake(wake, clock.now(), permit);
}

}  // namespace semel::detail
