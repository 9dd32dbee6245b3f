#include "semel/retry/schedule.hpp"

#include "semel/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

namespace semel {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{1h};

Error failure(Fault fault) {
    Error error;
    error.fault = fault;
    error.message = "refused";
    return error;
}
Error asks_to_wait(Duration wait) {
    Error error = failure(Fault::throttled);
    error.cause.retry_after = wait;
    return error;
}
Policy policy(const PolicySpec& spec) { return Policy::create(spec).value(); }

/// Everything the questions need, each with an answer that allows a retry.
struct Ground {
    PolicySpec spec{.jitter = Jitter::none};
    Deadline deadline;
    RetryOwner owner = RetryOwner::here;
    Budget budget;
    Breaker breaker{BreakerSpec{.attempts_min = 1, .open_for = 5s}};
    SeededRandom random{1};
    std::optional<Schedule> schedule;

    Decision fails(const Error& error, Instant now = start, Repeat repeat = Repeat::safe) {
        if (!schedule) schedule.emplace(policy(spec), start, deadline, owner);
        return schedule->on_failure(error, repeat, now, budget, breaker, random);
    }
    void empty_budget() {
        while (budget.try_spend(start)) {}
    }
    void open_breaker() { breaker.acquire(start).failed(failure(Fault::unavailable), start); }
};

TEST(Schedule, RetriesWhatCouldEndDifferently) {
    for (const Fault fault : {Fault::conflict, Fault::unavailable, Fault::throttled, Fault::unknown}) {
        EXPECT_TRUE(Ground().fails(failure(fault)).retry()) << name(fault);
    }
}

TEST(Schedule, NeverRetriesWhatWouldOnlyRepeatItself) {
    for (const Fault fault : {Fault::rejected, Fault::broken}) {
        EXPECT_EQ(Ground().fails(failure(fault)).stop, Stop::not_retryable) << name(fault);
    }
}

TEST(Schedule, RetriesAnUnknownOutcomeOnlyIfRepeatingIsSafe) {
    EXPECT_EQ(Ground().fails(failure(Fault::unknown), start, Repeat::unsafe).stop, Stop::not_repeatable);
    EXPECT_TRUE(Ground().fails(failure(Fault::unknown), start, Repeat::safe).retry());
    EXPECT_TRUE(Ground().fails(failure(Fault::unavailable), start, Repeat::unsafe).retry());
}

TEST(Schedule, LeavesRetryingToTheOwnerFurtherOut) {
    Ground ground;
    ground.owner = RetryOwner::outer;
    EXPECT_EQ(ground.fails(failure(Fault::unavailable)).stop, Stop::not_owner);
    EXPECT_EQ(ground.fails(failure(Fault::rejected)).stop, Stop::not_retryable);
}

TEST(Schedule, StopsWhenTheAttemptsAreUsedUp) {
    Ground ground;
    ground.spec.attempts = 3;
    EXPECT_TRUE(ground.fails(failure(Fault::conflict)).retry());
    EXPECT_TRUE(ground.fails(failure(Fault::conflict)).retry());
    EXPECT_EQ(ground.fails(failure(Fault::conflict)).stop, Stop::attempts);
    EXPECT_EQ(ground.schedule->attempts(), 3U);
}

TEST(Schedule, ASinglePermittedAttemptIsNotRetried) {
    SeededRandom random(1);
    Schedule schedule(Policy::once(), start);
    EXPECT_EQ(schedule.on_failure(failure(Fault::conflict), Repeat::safe, start, nullptr, nullptr, random).stop,
              Stop::attempts);
}

TEST(Schedule, StartsNoAttemptAfterTheElapsedTime) {
    Ground ground;
    ground.spec.elapsed = 1s;
    EXPECT_EQ(ground.fails(failure(Fault::conflict), start + 980ms), (Decision{.delay = 20ms}));
    EXPECT_EQ(ground.fails(failure(Fault::conflict), start + 980ms).stop, Stop::elapsed);
    EXPECT_EQ(ground.fails(failure(Fault::conflict), start + 1h).stop, Stop::elapsed);
}

TEST(Schedule, StopsWhenTheBudgetIsEmpty) {
    Ground ground;
    ground.empty_budget();
    EXPECT_EQ(ground.fails(failure(Fault::unavailable)).stop, Stop::budget);
}

TEST(Schedule, SpendsForARetryAndNotForAStop) {
    Ground ground;
    const auto before = ground.budget.left(start);
    EXPECT_TRUE(ground.fails(failure(Fault::unavailable)).retry());
    EXPECT_EQ(ground.budget.left(start), before - Budget::retry_cost);
    EXPECT_FALSE(ground.fails(failure(Fault::rejected)).retry());
    ground.open_breaker();
    EXPECT_EQ(ground.fails(failure(Fault::unavailable)).stop, Stop::breaker);
    EXPECT_EQ(ground.budget.left(start), before - Budget::retry_cost);
}

TEST(Schedule, StopsWhileTheBreakerWouldStillBeOpenAfterTheDelay) {
    Ground ground;
    ground.open_breaker();
    EXPECT_EQ(ground.fails(failure(Fault::unavailable), start).stop, Stop::breaker);
    EXPECT_TRUE(ground.fails(failure(Fault::unavailable), start + 4999ms).retry());
}

TEST(Schedule, DoesNotSleepPastTheDeadline) {
    Ground ground;
    ground.deadline = Deadline::at(start + 1s);
    EXPECT_TRUE(ground.fails(failure(Fault::unavailable), start + 979ms).retry());
    EXPECT_EQ(ground.fails(failure(Fault::unavailable), start + 960ms).stop, Stop::deadline);
    EXPECT_EQ(ground.fails(failure(Fault::unavailable), start + 2s).stop, Stop::deadline);
}

TEST(Schedule, StartsNoAttemptThatIsNotExpectedToEndBeforeTheDeadline) {
    Ground ground;
    ground.spec.expected_attempt = 100ms;
    ground.deadline = Deadline::at(start + 1s);
    EXPECT_TRUE(ground.fails(failure(Fault::unavailable), start + 880ms).retry());
    Ground late;
    late.spec.expected_attempt = 100ms;
    late.deadline = Deadline::at(start + 1s);
    EXPECT_EQ(late.fails(failure(Fault::unavailable), start + 880ms + 1ns).stop, Stop::deadline);
}

TEST(Schedule, AsksTheQuestionsInOrder) {
    // Every question would stop it; taking the first one away leaves the next as the reason.
    Ground ground;
    ground.spec.attempts = 2;
    ground.spec.elapsed = 5s;
    ground.spec.throttled_base = 1s;
    ground.deadline = Deadline::at(start + 1ms);
    ground.empty_budget();
    ground.open_breaker();
    Schedule schedule(policy(ground.spec), start - 1h, ground.deadline, RetryOwner::outer);
    const auto ask = [&](Fault fault, Repeat repeat) {
        return schedule.on_failure(failure(fault), repeat, start, ground.budget, ground.breaker, ground.random).stop;
    };
    EXPECT_EQ(ask(Fault::rejected, Repeat::unsafe), Stop::not_retryable);
    EXPECT_EQ(ask(Fault::unknown, Repeat::unsafe), Stop::not_repeatable);
    EXPECT_EQ(ask(Fault::unknown, Repeat::safe), Stop::not_owner);
    schedule = Schedule(policy(ground.spec), start - 1h, ground.deadline);
    EXPECT_EQ(ask(Fault::unknown, Repeat::safe), Stop::elapsed);
    EXPECT_EQ(ask(Fault::unknown, Repeat::safe), Stop::attempts);
    schedule = Schedule(policy(ground.spec), start, ground.deadline);
    EXPECT_EQ(ask(Fault::unknown, Repeat::safe), Stop::budget);
    schedule = Schedule(policy(ground.spec), start, ground.deadline);
    EXPECT_EQ(
        schedule.on_failure(failure(Fault::unknown), Repeat::safe, start, nullptr, &ground.breaker, ground.random).stop,
        Stop::breaker);
    schedule = Schedule(policy(ground.spec), start, ground.deadline);
    EXPECT_EQ(schedule.on_failure(failure(Fault::unknown), Repeat::safe, start, nullptr, nullptr, ground.random).stop,
              Stop::deadline);
}

TEST(Schedule, WaitsAtLeastAsLongAsTheOtherSideAsksUpToTheCap) {
    Ground ground;
    ground.spec.cap = 2s;
    EXPECT_EQ(ground.fails(asks_to_wait(1s)).delay, 1s);  // Longer than the throttled base.
    EXPECT_EQ(ground.fails(asks_to_wait(1h)).delay, 2s);  // Not longer than the cap.
    EXPECT_EQ(ground.fails(asks_to_wait(0s)).delay, 2s);  // The backoff, 500ms doubled twice.
    EXPECT_EQ(Ground().fails(asks_to_wait(-1s)).delay, 500ms);
}

TEST(Schedule, StopsAtOnceIfTheOtherSideAsksToWaitBeyondTheDeadline) {
    Ground ground;
    ground.deadline = Deadline::at(start + 10s);
    EXPECT_EQ(ground.fails(asks_to_wait(10s)).stop, Stop::deadline);
    EXPECT_EQ(ground.fails(asks_to_wait(Duration::max())).stop, Stop::deadline);
    EXPECT_EQ(ground.fails(asks_to_wait(10s - 1ns)), (Decision{.delay = 2s}));
}

TEST(Schedule, WaitsLongerAfterThrottling) {
    EXPECT_EQ(Ground().fails(failure(Fault::unavailable)).delay, 20ms);
    EXPECT_EQ(Ground().fails(failure(Fault::throttled)).delay, 500ms);
}

TEST(Schedule, NeverRetriesAFullPoolOrQueueAtOnce) {
    for (const Timeout timeout : {Timeout::pool, Timeout::queue}) {
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            Ground ground;
            ground.spec.jitter = Jitter::full;
            ground.random = SeededRandom(seed);
            Error full = failure(Fault::unavailable);
            full.cause.timeout = timeout;
            EXPECT_GE(ground.fails(full).delay, ground.spec.base);
        }
    }
}

TEST(Schedule, WorksWithoutABudgetAndABreaker) {
    SeededRandom random(1);
    Schedule schedule(Policy(), start);
    EXPECT_TRUE(schedule.on_failure(failure(Fault::conflict), Repeat::unsafe, start, nullptr, nullptr, random).retry());
}

TEST(Schedule, TheLastRealErrorIsKeptWithTheReason) {
    Ground ground;
    ground.spec.attempts = 1;
    Error last = failure(Fault::conflict);
    last.native = "could not serialize";
    last.cause.code = "40001";
    const Decision decision = ground.fails(last);
    const Error error = stopped(last, *ground.schedule, decision);
    EXPECT_EQ(error.fault, Fault::conflict);
    EXPECT_EQ(error.message, "refused");
    EXPECT_EQ(error.native, "could not serialize");
    EXPECT_EQ(error.cause.code, "40001");
    EXPECT_EQ(error.cause.stop, Stop::attempts);
    EXPECT_EQ(error.cause.attempts, 1U);
}

TEST(Schedule, EveryRunEndsWithinItsLimitsWhateverHappens) {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        SeededRandom chance(seed);
        PolicySpec spec;
        spec.attempts = static_cast<std::uint32_t>(1 + chance.below(20));
        spec.elapsed = std::chrono::milliseconds(1 + chance.below(5000));
        spec.jitter = static_cast<Jitter>(chance.below(4));
        spec.expected_attempt = std::chrono::milliseconds(chance.below(50));
        const Deadline deadline = chance.below(2) == 0
                                      ? Deadline::never()
                                      : Deadline::at(start + std::chrono::milliseconds(chance.below(5000)));
        Budget budget;
        Breaker breaker;
        Schedule schedule(policy(spec), start, deadline);
        Instant now = start;
        std::uint32_t attempts = 0;
        for (;;) {
            ++attempts;
            now += std::chrono::milliseconds(chance.below(100));
            Error error = failure(static_cast<Fault>(chance.below(6)));
            if (chance.below(4) == 0) error.cause.retry_after = std::chrono::milliseconds(chance.below(3000));
            const Repeat repeat = chance.below(2) == 0 ? Repeat::safe : Repeat::unsafe;
            const Decision decision = schedule.on_failure(error, repeat, now, budget, breaker, chance);
            ASSERT_EQ(schedule.attempts(), attempts);
            if (!decision.retry()) break;
            ASSERT_GE(decision.delay, 0ns);
            ASSERT_LE(decision.delay, spec.cap);
            ASSERT_LE(now + decision.delay - start, spec.elapsed);
            ASSERT_LE(decision.delay + spec.expected_attempt, deadline.remaining(now));
            now += decision.delay;
        }
        ASSERT_LE(attempts, spec.attempts);
    }
}

}  // namespace
}  // namespace semel
