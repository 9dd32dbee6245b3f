#pragma once

#include "semel/base/random.hpp"
#include "semel/base/time.hpp"
#include "semel/retry/schedule.hpp"
#include "semel/retry/scope.hpp"

#include <cstdint>

namespace semel {

/// What the drivers share from the first failure on: a Schedule, the reports to the scope's breaker,
/// and the memory of a doubt. Waits nowhere. The policy and the scope must outlive it.
///
/// A doubt lasts: once an attempt's outcome is unknown, no failure of a later one, not even a
/// rejection, tells what became of it. Only a success settles it, since an attempt that may be
/// repeated has the same one effect however often it is made.
class RetryProgress {
public:
    RetryProgress(const Policy& policy, const RetryScope& scope, Instant started) noexcept
        : policy_(&policy), scope_(&scope), schedule_(policy, started, scope.deadline, scope.owner) {}

    /// An attempt failed. Consumes its permit.
    [[nodiscard]] Decision on_failure(const Error& error, Instant now, Breaker::Permit& permit,
                                      Random& random) noexcept;
    /// The delay is over, or was broken off. A decision to retry holds a new permit.
    [[nodiscard]] Decision on_wake(Wake wake, Instant now, Breaker::Permit& permit) noexcept;
    /// The error to return after a decision to stop: `unknown` if any attempt's outcome was.
    [[nodiscard]] Error stopped(Error last, Decision decision) const;

    [[nodiscard]] std::uint32_t attempts() const noexcept { return schedule_.attempts(); }

private:
    const Policy* policy_;
    const RetryScope* scope_;
    Schedule schedule_;
    bool in_doubt_ = false;  // An attempt so far may have been executed.
};

}  // namespace semel
