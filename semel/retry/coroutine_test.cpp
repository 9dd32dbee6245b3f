#include "semel/retry/coroutine.hpp"

#include "semel/retry/blocking.hpp"
#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace semel {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using testing::ManualClock;

Error failure(Fault fault) {
    Error error;
    error.fault = fault;
    error.message = "refused";
    return error;
}

/// What one operation did: when each attempt ran, and how it ended.
struct Trace {
    std::vector<Duration> attempts;
    Stop stop = Stop::none;
    Fault fault = Fault::broken;
    bool doubted = false;  ///< Some attempt's outcome was unknown.

    void told(const Error& error) {
        stop = error.cause.stop;
        fault = error.fault;
    }
    friend bool operator==(const Trace&, const Trace&) = default;
};

/// A dependency that fails as its seed says.
class Dependency {
public:
    explicit Dependency(std::uint64_t seed) : chance_(seed) {}

    Status call(Trace& trace, ManualClock& clock, Instant started) {
        trace.attempts.push_back(clock.now() - started);
        clock.advance(std::chrono::milliseconds(chance_.below(50)));
        const auto drawn = chance_.below(8);
        if (drawn == 7) return {};
        Error error = failure(drawn < 6 ? static_cast<Fault>(1 + drawn % 4) : Fault::rejected);
        trace.doubted = trace.doubted || error.fault == Fault::unknown;
        if (chance_.below(4) == 0) error.cause.retry_after = std::chrono::milliseconds(chance_.below(3000));
        return fail(std::move(error));
    }

private:
    SeededRandom chance_;
};

struct World {
    explicit World(std::uint64_t seed) : dependency(seed), random(seed) {
        policy = Policy::create({.attempts = 10, .jitter = static_cast<Jitter>(seed % 4)}).value();
        scope = {.budget = &budget,
                 .breaker = &breaker,
                 .deadline = seed % 3 == 0 ? Deadline::after(clock.now(), 3s) : Deadline::never(),
                 .repeat = seed % 5 == 0 ? Repeat::unsafe : Repeat::safe};
    }

    Dependency dependency;
    ManualClock clock;
    SeededRandom random;
    Budget budget;
    Breaker breaker{{.attempts_min = 4, .open_for = 200ms}};
    Policy policy;
    RetryScope scope;
    Instant started = clock.now();
    Trace trace;
};

Trace run_blocking(std::uint64_t seed) {
    World world(seed);
    const Status status = retry_blocking(world.clock, world.random, world.policy, world.scope, [&]() -> Status {
        return world.dependency.call(world.trace, world.clock, world.started);
    });
    if (!status) world.trace.told(status.error());
    return world.trace;
}

asio::awaitable<Wake> manual_sleep(Clock& clock, Instant until, const std::stop_token& stop) {
    co_return clock.sleep(until, stop);
}

Trace run_coroutine(std::uint64_t seed) {
    World world(seed);
    asio::io_context loop;
    const auto attempt = [&]() -> asio::awaitable<Status> {
        co_return world.dependency.call(world.trace, world.clock, world.started);
    };
    auto done = asio::co_spawn(
        loop, retry_coroutine(world.clock, world.random, world.policy, world.scope, attempt, &manual_sleep),
        asio::use_future);
    loop.run();
    const Status status = done.get();
    if (!status) world.trace.told(status.error());
    return world.trace;
}

TEST(RetryCoroutine, MakesTheSameDecisionsAsTheBlockingDriver) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        ASSERT_EQ(run_blocking(seed), run_coroutine(seed)) << "seed " << seed;
    }
}

TEST(RetryCoroutine, KeepsTheDoubtOfAnEarlierAttemptUntilOneSucceeds) {
    std::size_t doubts = 0;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Trace trace = run_coroutine(seed);
        if (!trace.doubted || trace.stop == Stop::none) continue;
        ++doubts;
        ASSERT_EQ(trace.fault, Fault::unknown) << "seed " << seed;
    }
    EXPECT_GT(doubts, 50U);
}

class RetryCoroutineWaiting : public ::testing::Test {
protected:
    /// Starts an operation whose attempts all fail, so that it soon waits for a delay that lasts
    /// longer than any test: only the real timer waits here, and only until it is stopped.
    template <class Token>
    auto start_waiting(Token&& token) {
        const auto attempt = [this](std::uint32_t number) -> asio::awaitable<Result<int>> {
            attempts = number;
            co_return fail(failure(Fault::unavailable));
        };
        return asio::co_spawn(loop, retry_coroutine(clock, random, policy, scope, attempt), std::forward<Token>(token));
    }
    void expect_stopped(const Result<int>& result) const {
        ASSERT_FALSE(result.has_value());
        EXPECT_EQ(result.error().message, "refused");
        EXPECT_EQ(result.error().cause.stop, Stop::stopped);
        EXPECT_EQ(result.error().cause.attempts, 1U);
        EXPECT_EQ(attempts, 1U);
    }

    ManualClock clock;
    SeededRandom random{1};
    Policy policy =
        Policy::create({.elapsed = 24h, .base = 1h, .cap = 1h, .throttled_base = 1h, .jitter = Jitter::none}).value();
    RetryScope scope;
    std::uint32_t attempts = 0;
    asio::io_context loop;
};

TEST_F(RetryCoroutineWaiting, LeavesTheEventLoopFreeAndEndsAtAStopRequest) {
    std::stop_source source;
    scope.stop = source.get_token();
    auto done = start_waiting(asio::use_future);
    // Runs only if the coroutine does not hold the loop while it waits.
    int turns = 0;
    std::function<void()> turn = [&] {
        if (++turns < 100) return asio::post(loop, turn);
        source.request_stop();
    };
    asio::post(loop, turn);
    loop.run();
    EXPECT_EQ(turns, 100);
    expect_stopped(done.get());
}

TEST_F(RetryCoroutineWaiting, EndsWhenTheCoroutineIsCancelled) {
    asio::cancellation_signal signal;
    std::optional<Result<int>> result;
    start_waiting(asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr thrown, Result<int> value) {
        EXPECT_EQ(thrown, nullptr);
        result = std::move(value);
    }));
    // Not before its first attempt failed; before or after the timer was started.
    std::function<void()> cancel_once_waiting = [&] {
        if (attempts == 0) return asio::post(loop, cancel_once_waiting);
        signal.emit(asio::cancellation_type::terminal);
    };
    asio::post(loop, cancel_once_waiting);
    loop.run();
    ASSERT_TRUE(result.has_value());
    expect_stopped(*result);
}

TEST_F(RetryCoroutineWaiting, ACancellationThatAnAttemptIgnoredEndsItBeforeTheNext) {
    asio::cancellation_signal signal;
    std::optional<Result<int>> result;
    const auto attempt = [&](std::uint32_t number) -> asio::awaitable<Result<int>> {
        attempts = number;
        // Asio 1.81 cannot end a cancelled coroutine that has never been suspended.
        co_await asio::post(loop, asio::use_awaitable);
        signal.emit(asio::cancellation_type::terminal);
        co_return fail(failure(Fault::unavailable));
    };
    asio::co_spawn(loop, retry_coroutine(clock, random, policy, scope, attempt),
                   asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr thrown, Result<int> value) {
                       EXPECT_EQ(thrown, nullptr);
                       result = std::move(value);
                   }));
    loop.run();
    ASSERT_TRUE(result.has_value());
    expect_stopped(*result);
}

TEST_F(RetryCoroutineWaiting, SeesAStopRequestFromAnyThreadAtAnyMoment) {
    for (int round = 0; round < 200; ++round) {
        asio::thread_pool pool(2);
        std::stop_source source;
        RetryScope own = scope;
        own.stop = source.get_token();
        SeededRandom own_random(1);
        const auto attempt = []() -> asio::awaitable<Result<int>> { co_return fail(failure(Fault::unavailable)); };
        auto done = asio::co_spawn(pool, retry_coroutine(clock, own_random, policy, own, attempt), asio::use_future);
        source.request_stop();
        const Result<int> result = done.get();
        ASSERT_FALSE(result.has_value());
        EXPECT_EQ(result.error().cause.stop, Stop::stopped);
        pool.join();
    }
}

TEST_F(RetryCoroutineWaiting, WakesByItselfWhenTheTimeHasCome) {
    std::optional<Wake> wake;
    asio::co_spawn(
        loop, [&]() -> asio::awaitable<void> { wake = co_await asio_sleep(clock, clock.now(), scope.stop); },
        asio::use_future);
    loop.run();
    EXPECT_EQ(wake, Wake::timeout);
}

TEST_F(RetryCoroutineWaiting, StartsNothingAfterTheDeadline) {
    scope.deadline = Deadline::at(clock.now());
    auto done = start_waiting(asio::use_future);
    loop.run();
    EXPECT_EQ(done.get().error().cause.stop, Stop::deadline);
    EXPECT_EQ(attempts, 0U);
}

}  // namespace
}  // namespace semel
