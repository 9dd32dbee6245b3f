#pragma once

#include "semel/retry/blocking.hpp"
#include "semel/testing/manual_clock.hpp"

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace semel::bench {

/// What is measured: an operation that succeeds at its first try, under everything that can guard
/// it. Reached through a reference that the compiler cannot see through, as in a real program.
struct RetrySubject {
    testing::ManualClock clock;
    SeededRandom random{1};
    Policy policy;
    Budget budget;
    Breaker breaker;
    std::stop_source stop;
    RetryScope bare{.deadline = Deadline::never(), .repeat = Repeat::safe};
    RetryScope guarded{.budget = &budget,
                       .breaker = &breaker,
                       .deadline = Deadline::after(clock.now(), std::chrono::hours(1)),
                       .stop = stop.get_token(),
                       .repeat = Repeat::safe};

    /// By the base class, so that the clock is asked through its seam.
    Clock* seam = &clock;
};

/// One operation. The attempt does as little as an attempt can.
[[gnu::always_inline]] inline Result<std::uint64_t> first_try(RetrySubject& subject, const RetryScope& scope,
                                                              std::uint64_t n) {
    return retry_blocking(*subject.seam, subject.random, subject.policy, scope,
                          [n]() -> Result<std::uint64_t> { return n; });
}

}  // namespace semel::bench
