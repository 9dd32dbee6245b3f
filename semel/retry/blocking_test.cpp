#include "semel/retry/blocking.hpp"

#include "semel/retry/rule.hpp"
#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;

Error failure(Fault fault, std::string message = "refused") {
    Error error;
    error.fault = fault;
    error.message = std::move(message);
    return error;
}

class RetryBlocking : public ::testing::Test {
protected:
    /// Fails with each of the faults in turn, then succeeds with the number of the attempt.
    Result<std::uint32_t> run(const std::vector<Fault>& faults) {
        return retry_blocking(clock, random, policy, scope, [&](std::uint32_t number) -> Result<std::uint32_t> {
            ++calls;
            EXPECT_EQ(number, calls);
            if (number <= faults.size()) return fail(failure(faults[number - 1], "attempt " + std::to_string(number)));
            return number;
        });
    }

    ManualClock clock;
    SeededRandom random{1};
    Policy policy;
    RetryScope scope;
    std::uint32_t calls = 0;
};

TEST_F(RetryBlocking, ReturnsTheFirstSuccessWithoutWaiting) {
    const Instant before = clock.now();
    EXPECT_EQ(run({}).value(), 1U);
    EXPECT_EQ(clock.now(), before);
}

TEST_F(RetryBlocking, RunsAgainUntilItSucceeds) { EXPECT_EQ(run({Fault::unavailable, Fault::conflict}).value(), 3U); }

TEST_F(RetryBlocking, WaitsOutTheScheduledDelays) {
    policy = Policy::create({.jitter = Jitter::none}).value();
    const Instant before = clock.now();
    EXPECT_TRUE(run({Fault::unavailable, Fault::unavailable}).has_value());
    EXPECT_EQ(clock.now() - before, 20ms + 40ms);
}

TEST_F(RetryBlocking, ReturnsTheLastRealErrorWithTheReason) {
    policy = Policy::create({.attempts = 3}).value();
    const auto result = run({Fault::unavailable, Fault::conflict, Fault::conflict, Fault::conflict});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().message, "attempt 3");
    EXPECT_EQ(result.error().fault, Fault::conflict);
    EXPECT_EQ(result.error().cause.stop, Stop::attempts);
    EXPECT_EQ(result.error().cause.attempts, 3U);
    EXPECT_EQ(calls, 3U);
}

TEST_F(RetryBlocking, DoesNotRepeatAnUnknownOutcomeUnlessToldThatItIsSafe) {
    EXPECT_EQ(run({Fault::unknown}).error().cause.stop, Stop::not_repeatable);
    calls = 0;
    scope.repeat = Repeat::safe;
    EXPECT_EQ(run({Fault::unknown}).value(), 2U);
}

TEST_F(RetryBlocking, KeepsTheDoubtOfAnEarlierAttemptWhateverALaterOneSays) {
    policy = Policy::create({.attempts = 3}).value();
    scope.repeat = Repeat::safe;
    for (const Fault later : {Fault::unavailable, Fault::throttled, Fault::conflict, Fault::rejected, Fault::broken}) {
        calls = 0;
        const auto result = run({Fault::unknown, later, later});
        ASSERT_FALSE(result.has_value());
        EXPECT_EQ(result.error().fault, Fault::unknown) << name(later) << " says nothing about the first attempt";
        EXPECT_EQ(result.error().cause.stop, retryable(later) ? Stop::attempts : Stop::not_retryable);
        EXPECT_EQ(result.error().cause.attempts, calls);
        EXPECT_EQ(result.error().message,
                  "an earlier attempt may have been executed: attempt " + std::to_string(calls));
    }
}

TEST_F(RetryBlocking, ASuccessSettlesAnEarlierDoubt) {
    scope.repeat = Repeat::safe;
    EXPECT_EQ(run({Fault::unknown, Fault::throttled}).value(), 3U);
}

TEST_F(RetryBlocking, ADoubtAboutTheLastAttemptAloneIsToldAsItIs) {
    policy = Policy::create({.attempts = 2}).value();
    scope.repeat = Repeat::safe;
    const auto result = run({Fault::throttled, Fault::unknown});
    EXPECT_EQ(result.error().fault, Fault::unknown);
    EXPECT_EQ(result.error().message, "attempt 2");
}

TEST_F(RetryBlocking, RunsOneAttemptWhenALayerFurtherOutRetries) {
    scope.owner = RetryOwner::outer;
    EXPECT_EQ(run({Fault::unavailable}).error().cause.stop, Stop::not_owner);
    EXPECT_EQ(calls, 1U);
}

TEST_F(RetryBlocking, StartsNothingAfterTheDeadline) {
    scope.deadline = Deadline::at(clock.now());
    const auto result = run({});
    EXPECT_EQ(calls, 0U);
    EXPECT_EQ(result.error().fault, Fault::unavailable);
    EXPECT_EQ(result.error().cause.stop, Stop::deadline);
    EXPECT_EQ(result.error().cause.timeout, Timeout::total);
    EXPECT_EQ(result.error().cause.attempts, 0U);
}

TEST_F(RetryBlocking, StartsNoFirstAttemptThatCannotEndInTime) {
    policy = Policy::create({.expected_attempt = 100ms}).value();
    scope.deadline = Deadline::at(clock.now() + 99ms);
    EXPECT_EQ(run({}).error().cause.stop, Stop::deadline);
    scope.deadline = Deadline::at(clock.now() + 100ms);
    EXPECT_TRUE(run({}).has_value());
}

TEST_F(RetryBlocking, StartsNothingAfterAStopRequest) {
    std::stop_source source;
    source.request_stop();
    scope.stop = source.get_token();
    EXPECT_EQ(run({}).error().cause.stop, Stop::stopped);
    EXPECT_EQ(calls, 0U);
}

TEST_F(RetryBlocking, AStopRequestEndsTheWaitAndKeepsTheRealError) {
    ManualClock blocking_clock(ManualClock::Waiting::blocks);
    std::stop_source source;
    scope.stop = source.get_token();
    Result<int> result = 0;
    {
        const std::jthread worker([&] {
            result = retry_blocking(blocking_clock, random, policy, scope,
                                    [&]() -> Result<int> { return fail(failure(Fault::unavailable)); });
        });
        blocking_clock.await_waiters(1);
        source.request_stop();
    }
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().message, "refused");
    EXPECT_EQ(result.error().cause.stop, Stop::stopped);
    EXPECT_EQ(result.error().cause.attempts, 1U);
}

TEST_F(RetryBlocking, DepositsFirstTriesAndSpendsOnRetries) {
    Budget budget({.retry_percent = 100, .floor_per_second = 0});
    scope.budget = &budget;
    EXPECT_TRUE(run({}).has_value());
    EXPECT_EQ(budget.left(clock.now()), 1000);
    calls = 0;
    EXPECT_TRUE(run({Fault::unavailable}).has_value());
    EXPECT_EQ(budget.left(clock.now()), 1000);
    calls = 0;
    const auto result = run({Fault::unavailable, Fault::unavailable, Fault::unavailable});
    EXPECT_EQ(result.error().cause.stop, Stop::budget);
    EXPECT_EQ(calls, 3U);
}

TEST_F(RetryBlocking, StartsNothingWhileTheBreakerIsOpenAndSaysForHowLong) {
    Breaker breaker({.attempts_min = 1, .open_for = 5s});
    scope.breaker = &breaker;
    EXPECT_EQ(run({Fault::unavailable}).error().cause.stop, Stop::breaker);
    calls = 0;
    clock.advance(1s);
    const auto result = run({});
    EXPECT_EQ(calls, 0U);
    EXPECT_EQ(result.error().cause.stop, Stop::breaker);
    EXPECT_EQ(result.error().cause.retry_after, 4s);
}

TEST_F(RetryBlocking, ProbesCloseTheBreakerAgain) {
    Breaker breaker({.attempts_min = 1, .open_for = 5s, .probes = 1});
    scope.breaker = &breaker;
    EXPECT_FALSE(run({Fault::unavailable}).has_value());
    clock.advance(5s);
    calls = 0;
    EXPECT_TRUE(run({}).has_value());
    EXPECT_EQ(breaker.state(clock.now()), Breaker::State::closed);
}

TEST_F(RetryBlocking, AnAttemptThatThrowsGivesItsProbeBack) {
    Breaker breaker({.attempts_min = 1, .open_for = 5s, .probes = 1});
    scope.breaker = &breaker;
    EXPECT_FALSE(run({Fault::unavailable}).has_value());
    clock.advance(5s);
    const auto throwing = [&]() -> Result<int> { throw std::runtime_error("handler"); };
    EXPECT_THROW(static_cast<void>(retry_blocking(clock, random, policy, scope, throwing)), std::runtime_error);
    EXPECT_TRUE(breaker.would_admit(clock.now()));
}

/// Lets something else happen during every wait.
class BusyClock final : public Clock {
public:
    explicit BusyClock(std::function<void(Instant)> meanwhile) : meanwhile_(std::move(meanwhile)) {}

    Instant now() const noexcept override { return clock_.now(); }
    Timestamp wall() const noexcept override { return clock_.wall(); }
    Wake wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& condition, Instant until,
              std::stop_token stop) override {
        const Wake wake = clock_.wait(lock, condition, until, stop);
        meanwhile_(now());
        return wake;
    }

private:
    ManualClock clock_;
    std::function<void(Instant)> meanwhile_;
};

TEST_F(RetryBlocking, StopsIfTheBreakerOpenedDuringTheDelay) {
    Breaker breaker({.attempts_min = 2});
    scope.breaker = &breaker;
    BusyClock busy([&](Instant now) { breaker.acquire(now).failed(failure(Fault::unavailable), now); });
    const auto result =
        retry_blocking(busy, random, policy, scope, [&]() -> Status { return fail(failure(Fault::unavailable)); });
    EXPECT_EQ(result.error().message, "refused");
    EXPECT_EQ(result.error().cause.stop, Stop::breaker);
    EXPECT_EQ(result.error().cause.attempts, 1U);
}

TEST_F(RetryBlocking, StopsIfItSleptPastTheDeadline) {
    scope.deadline = Deadline::after(clock.now(), 1h);
    BusyClock busy([&](Instant) { scope.deadline = Deadline::at(clock.now()); });
    const auto result =
        retry_blocking(busy, random, policy, scope, [&]() -> Status { return fail(failure(Fault::unavailable)); });
    EXPECT_EQ(result.error().cause.stop, Stop::deadline);
    EXPECT_EQ(result.error().cause.attempts, 1U);
}

TEST_F(RetryBlocking, CarriesValuesThatOnlyMoveAndNoValueAtAll) {
    int left = 1;
    const auto moved = retry_blocking(clock, random, policy, scope, [&]() -> Result<std::unique_ptr<int>> {
        if (left-- > 0) return fail(failure(Fault::conflict));
        return std::make_unique<int>(7);
    });
    EXPECT_EQ(**moved, 7);
    left = 1;
    const Status status = retry_blocking(clock, random, policy, scope, [&]() -> Status {
        if (left-- > 0) return fail(failure(Fault::conflict));
        return {};
    });
    EXPECT_TRUE(status.has_value());
}

TEST_F(RetryBlocking, TheSameSeedGivesTheSameRun) {
    const auto elapsed = [](std::uint64_t seed) {
        ManualClock own_clock;
        SeededRandom own_random(seed);
        const Instant before = own_clock.now();
        const auto result = retry_blocking(own_clock, own_random, Policy(), {},
                                           [&]() -> Status { return fail(failure(Fault::unavailable)); });
        EXPECT_EQ(result.error().cause.stop, Stop::attempts);
        return own_clock.now() - before;
    };
    EXPECT_EQ(elapsed(5), elapsed(5));
    EXPECT_NE(elapsed(5), elapsed(6));
}

}  // namespace
}  // namespace semel
