#include "semel/retry/progress.hpp"

#include <utility>

namespace semel {

Decision RetryProgress::on_failure(const Error& error, Instant now, Breaker::Permit& permit, Random& random) noexcept {
    // Reported first: if this failure opens the breaker, the schedule must see it open.
    permit.failed(error, now);
    in_doubt_ = in_doubt_ || error.fault == Fault::unknown;
    return schedule_.on_failure(error, scope_->repeat, now, scope_->budget, scope_->breaker, random);
}

Decision RetryProgress::on_wake(Wake wake, Instant now, Breaker::Permit& permit) noexcept {
    if (wake == Wake::stopped) return {.stop = Stop::stopped};
    return {.stop = admit(*scope_, *policy_, now, permit)};
}

Error RetryProgress::stopped(Error last, Decision decision) const {
    Error error = semel::stopped(std::move(last), schedule_, decision);
    return in_doubt_ ? after_a_doubt(std::move(error)) : error;
}

}  // namespace semel
