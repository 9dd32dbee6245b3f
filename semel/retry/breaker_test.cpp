#include "semel/retry/breaker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace semel {
namespace {

using namespace std::chrono_literals;
using State = Breaker::State;

constexpr Instant start{1h};
constexpr BreakerSpec small{
    .failure_percent = 50, .attempts_min = 4, .window = 10s, .open_for = 5s, .probes = 2, .probe_limit = 30s};

Error failure(Fault fault, Timeout timeout = Timeout::none, Stop stop = Stop::none) {
    Error error;
    error.fault = fault;
    error.cause.timeout = timeout;
    error.cause.stop = stop;
    return error;
}
const Error away = failure(Fault::unavailable);

void fail_once(Breaker& breaker, Instant now, const Error& error = away) {
    auto permit = breaker.acquire(now);
    ASSERT_TRUE(permit);
    permit.failed(error, now);
}
void succeed_once(Breaker& breaker, Instant now) {
    auto permit = breaker.acquire(now);
    ASSERT_TRUE(permit);
    permit.succeeded();
}
void open(Breaker& breaker, Instant now) {
    for (std::uint32_t i = 0; i < breaker.spec().attempts_min; ++i) fail_once(breaker, now);
    ASSERT_EQ(breaker.state(now), State::open);
}

TEST(Breaker, StaysClosedBelowTheLeastNumberOfAttempts) {
    Breaker breaker(small);
    for (int i = 0; i < 3; ++i) fail_once(breaker, start);
    EXPECT_EQ(breaker.state(start), State::closed);
    fail_once(breaker, start);
    EXPECT_EQ(breaker.state(start), State::open);
    EXPECT_FALSE(breaker.acquire(start));
}

TEST(Breaker, OpensByTheShareOfFailuresSinceTheFirstOne) {
    Breaker breaker(small);
    for (int i = 0; i < 100; ++i) succeed_once(breaker, start);  // Before the first failure: not counted.
    fail_once(breaker, start);
    for (int i = 0; i < 3; ++i) succeed_once(breaker, start);
    fail_once(breaker, start);  // 2 of 5.
    EXPECT_EQ(breaker.state(start), State::closed);
    fail_once(breaker, start);  // 3 of 6.
    EXPECT_EQ(breaker.state(start), State::open);
}

TEST(Breaker, ForgetsFailuresAfterTheWindow) {
    Breaker breaker(small);
    for (int i = 0; i < 3; ++i) fail_once(breaker, start);
    for (int i = 0; i < 3; ++i) fail_once(breaker, start + 10s);
    EXPECT_EQ(breaker.state(start + 10s), State::closed);
}

TEST(Breaker, CountsOnlyFailuresOfTheDependency) {
    const auto counts = [](const Error& error) { return verdict(error) == Verdict::ailing; };
    EXPECT_TRUE(counts(failure(Fault::unavailable)));
    EXPECT_TRUE(counts(failure(Fault::unknown)));
    for (const Fault fault : {Fault::rejected, Fault::conflict, Fault::throttled, Fault::broken}) {
        EXPECT_FALSE(counts(failure(fault))) << name(fault);
    }
    for (const Timeout timeout : {Timeout::dns, Timeout::connect, Timeout::tls, Timeout::write, Timeout::read,
                                  Timeout::request, Timeout::statement}) {
        EXPECT_TRUE(counts(failure(Fault::unavailable, timeout))) << name(timeout);
    }
    for (const Timeout timeout :
         {Timeout::pool, Timeout::queue, Timeout::executor, Timeout::total, Timeout::transaction, Timeout::lock}) {
        EXPECT_FALSE(counts(failure(Fault::unavailable, timeout))) << name(timeout);
        EXPECT_FALSE(counts(failure(Fault::unknown, timeout))) << name(timeout);
    }
    for (const Stop stop : {Stop::deadline, Stop::stopped, Stop::breaker}) {
        EXPECT_FALSE(counts(failure(Fault::unavailable, Timeout::none, stop))) << name(stop);
    }
}

TEST(Breaker, StaysClosedWhileOurOwnPoolIsExhausted) {
    Breaker breaker(small);
    for (int i = 0; i < 1000; ++i) fail_once(breaker, start, failure(Fault::unavailable, Timeout::pool));
    EXPECT_EQ(breaker.state(start), State::closed);
}

TEST(Breaker, AnAnswerThatSaysNoIsASignOfHealth) {
    Breaker breaker(small);
    fail_once(breaker, start);
    for (int i = 0; i < 10; ++i) fail_once(breaker, start, failure(Fault::rejected));
    for (int i = 0; i < 5; ++i) fail_once(breaker, start);
    EXPECT_EQ(breaker.state(start), State::closed);
}

TEST(Breaker, ClosesWhenAllProbesSucceed) {
    Breaker breaker(small);
    open(breaker, start);
    EXPECT_FALSE(breaker.acquire(start + 5s - 1ns));
    EXPECT_EQ(breaker.state(start + 5s), State::half_open);
    succeed_once(breaker, start + 5s);
    EXPECT_EQ(breaker.state(start + 5s), State::half_open);
    succeed_once(breaker, start + 5s);
    EXPECT_EQ(breaker.state(start + 5s), State::closed);
    EXPECT_TRUE(breaker.acquire(start + 5s));
}

TEST(Breaker, OpensAgainWhenAProbeFails) {
    Breaker breaker(small);
    open(breaker, start);
    succeed_once(breaker, start + 5s);
    fail_once(breaker, start + 6s);
    EXPECT_EQ(breaker.state(start + 6s), State::open);
    EXPECT_EQ(breaker.admits_in(start + 6s), 5s);
    EXPECT_FALSE(breaker.acquire(start + 10s));
    EXPECT_TRUE(breaker.acquire(start + 11s));
}

TEST(Breaker, LetsNoMoreProbesGoThanItNeeds) {
    Breaker breaker(small);
    open(breaker, start);
    const Instant later = start + 5s;
    auto first = breaker.acquire(later);
    auto second = breaker.acquire(later);
    EXPECT_TRUE(first);
    EXPECT_TRUE(second);
    EXPECT_FALSE(breaker.acquire(later));
    first.succeeded();
    EXPECT_FALSE(breaker.acquire(later));  // One has succeeded, one is under way: two are all it needs.
    second.failed(failure(Fault::unavailable, Timeout::pool), later);  // Says nothing: another may go.
    EXPECT_TRUE(breaker.acquire(later));
}

TEST(Breaker, AProbeThatIsDestroyedWithoutAReportComesBack) {
    Breaker breaker(small);
    open(breaker, start);
    for (int i = 0; i < 100; ++i) {
        auto first = breaker.acquire(start + 5s);
        auto second = breaker.acquire(start + 5s);
        ASSERT_TRUE(first);
        ASSERT_TRUE(second);
    }
}

TEST(Breaker, AProbeThatNeverComesBackExpires) {
    Breaker breaker(small);
    open(breaker, start);
    const Instant later = start + 5s;
    const auto first = breaker.acquire(later);
    const auto second = breaker.acquire(later);
    EXPECT_FALSE(breaker.would_admit(later + 30s - 1ns));
    EXPECT_EQ(breaker.admits_in(later + 10s), 20s);
    EXPECT_TRUE(breaker.would_admit(later + 30s));
    succeed_once(breaker, later + 30s);
    succeed_once(breaker, later + 30s);
    EXPECT_EQ(breaker.state(later + 30s), State::closed);
}

TEST(Breaker, AProbeThatReportsAfterItExpiredChangesNothing) {
    Breaker breaker(small);
    open(breaker, start);
    const Instant later = start + 5s;
    auto lost = breaker.acquire(later);
    auto lost_too = breaker.acquire(later);
    auto replacement = breaker.acquire(later + 30s);
    ASSERT_TRUE(replacement);
    lost.failed(away, later + 31s);
    EXPECT_EQ(breaker.state(later + 31s), State::half_open);
    lost_too.succeeded();
    replacement.succeeded();
    EXPECT_EQ(breaker.state(later + 31s), State::half_open);  // One success that counts, not two.
    succeed_once(breaker, later + 31s);
    EXPECT_EQ(breaker.state(later + 31s), State::closed);
}

TEST(Breaker, AReportFromBeforeItOpenedChangesNothing) {
    Breaker breaker(small);
    std::vector<Breaker::Permit> slow;
    for (int i = 0; i < 10; ++i) slow.push_back(breaker.acquire(start));
    open(breaker, start);
    const Instant later = start + 5s;
    auto probe = breaker.acquire(later);
    slow[0].succeeded();  // Not one of the probes.
    slow[1].succeeded();
    EXPECT_EQ(breaker.state(later), State::half_open);
    slow[2].failed(away, later);
    EXPECT_EQ(breaker.state(later), State::half_open);
    probe.succeeded();
    succeed_once(breaker, later);
    EXPECT_EQ(breaker.state(later), State::closed);
    for (std::size_t i = 3; i < slow.size(); ++i) slow[i].failed(away, later);
    EXPECT_EQ(breaker.state(later), State::closed);
}

TEST(Breaker, AMovedPermitReportsOnce) {
    Breaker breaker(small);
    open(breaker, start);
    auto first = breaker.acquire(start + 5s);
    Breaker::Permit second = std::move(first);
    first.succeeded();  // NOLINT(bugprone-use-after-move): that it does nothing is the point.
    second.succeeded();
    second.succeeded();
    EXPECT_EQ(breaker.state(start + 5s), State::half_open);
    Breaker::Permit third = breaker.acquire(start + 5s);
    third = Breaker::Permit();  // Gives the place back.
    EXPECT_TRUE(breaker.would_admit(start + 5s));
}

TEST(Breaker, ThreadsNeverHaveMoreProbesUnderWayThanAllowed) {
    Breaker breaker(small);
    open(breaker, start);
    std::atomic<int> under_way = 0;
    std::atomic<int> most = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int j = 0; j < 2000; ++j) {
                    auto permit = breaker.acquire(start + 5s);
                    if (!permit) continue;
                    const int now = ++under_way;
                    int seen = most;
                    while (now > seen && !most.compare_exchange_weak(seen, now)) {}
                    --under_way;
                    permit.failed(failure(Fault::broken), start + 5s);  // Says nothing: stays half-open.
                }
            });
        }
    }
    EXPECT_GE(most, 1);
    EXPECT_LE(most, 2);
    EXPECT_EQ(breaker.state(start + 5s), State::half_open);
    EXPECT_TRUE(breaker.would_admit(start + 5s));
}

TEST(Breaker, ThreadsThatFailTogetherOpenIt) {
    Breaker breaker(BreakerSpec{.attempts_min = 50});
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int j = 0; j < 100; ++j) {
                    auto permit = breaker.acquire(start);
                    if (permit) permit.failed(away, start);
                }
            });
        }
    }
    EXPECT_EQ(breaker.state(start), State::open);
}

TEST(Breaker, BadSpecIsAnErrorThatNamesTheField) {
    const auto wrong = [](const BreakerSpec& spec, std::string_view field) {
        const auto breaker = Breaker::create(spec);
        return !breaker && breaker.error().fault == Fault::rejected &&
               breaker.error().message.starts_with("circuit breaker: " + std::string(field) + " must be ");
    };
    EXPECT_TRUE(wrong({.failure_percent = 0}, "failure_percent"));
    EXPECT_TRUE(wrong({.failure_percent = 101}, "failure_percent"));
    EXPECT_TRUE(wrong({.attempts_min = 0}, "attempts_min"));
    EXPECT_TRUE(wrong({.window = 0s}, "window"));
    EXPECT_TRUE(wrong({.open_for = -1s}, "open_for"));
    EXPECT_TRUE(wrong({.open_for = Duration::max()}, "open_for"));
    EXPECT_TRUE(wrong({.probes = 0}, "probes"));
    EXPECT_TRUE(wrong({.probes = 17}, "probes"));
    EXPECT_TRUE(wrong({.probe_limit = 0s}, "probe_limit"));
    EXPECT_TRUE(Breaker::create({}).has_value());
}

}  // namespace
}  // namespace semel
