#include "semel/retry/backoff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <vector>

namespace semel {
namespace {

using namespace std::chrono_literals;

static_assert(std::is_trivially_copyable_v<Backoff>);

constexpr std::array jitters = {Jitter::none, Jitter::full, Jitter::equal, Jitter::decorrelated};

std::vector<Duration> delays(const PolicySpec& spec, std::uint64_t seed, int count, bool throttled = false) {
    SeededRandom random(seed);
    Backoff backoff;
    std::vector<Duration> result;
    for (int i = 0; i < count; ++i) result.push_back(backoff.next(spec, throttled, random));
    return result;
}

/// A generator that always draws the same end of the range.
class Extreme final : public Random {
public:
    explicit Extreme(std::uint64_t value) : value_(value) {}
    std::uint64_t next() noexcept override { return value_; }

private:
    std::uint64_t value_;
};

TEST(Backoff, DoublesFromTheBaseToTheCapWithoutJitter) {
    const PolicySpec spec{.base = 20ms, .cap = 100ms, .throttled_base = 50ms, .jitter = Jitter::none};
    EXPECT_EQ(delays(spec, 1, 5), (std::vector<Duration>{20ms, 40ms, 80ms, 100ms, 100ms}));
    EXPECT_EQ(delays(spec, 1, 3, true), (std::vector<Duration>{50ms, 100ms, 100ms}));
}

TEST(Backoff, NeverLeavesZeroToCapForAnySeedJitterAndNumberOfAttempts) {
    for (const Jitter jitter : jitters) {
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            SeededRandom chance(seed);
            PolicySpec spec{.jitter = jitter};
            spec.cap = Duration(1 + static_cast<std::int64_t>(chance.below(3'600'000'000'000)));
            spec.base =
                Duration(1 + static_cast<std::int64_t>(chance.below(static_cast<std::uint64_t>(spec.cap.count()))));
            spec.throttled_base = spec.base + (spec.cap - spec.base) / 2;
            Backoff backoff;
            for (int i = 0; i < 200; ++i) {
                const bool throttled = chance.below(3) == 0;
                const Duration delay = backoff.next(spec, throttled, chance);
                ASSERT_GE(delay, 0ns);
                ASSERT_LE(delay, spec.cap);
                if (jitter == Jitter::decorrelated) {
                    ASSERT_GE(delay, throttled ? spec.throttled_base : spec.base);
                }
            }
        }
    }
}

TEST(Backoff, DoesNotOverflowHoweverOftenItIsAsked) {
    const PolicySpec spec{.base = 1ns, .cap = 1h, .throttled_base = 1s, .jitter = Jitter::none};
    SeededRandom random(1);
    Backoff backoff;
    Duration last{};
    for (int i = 0; i < 100'000; ++i) {
        const Duration delay = backoff.next(spec, false, random);
        ASSERT_GE(delay, last);
        last = delay;
    }
    EXPECT_EQ(last, 1h);
}

TEST(Backoff, FullJitterReachesZeroAndTheWholeDelay) {
    const PolicySpec spec{.base = 8ns, .cap = 1s, .throttled_base = 8ns, .jitter = Jitter::full};
    bool none = false;
    bool whole = false;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Duration delay = delays(spec, seed, 1).front();
        none = none || delay == 0ns;
        whole = whole || delay == 8ns;
    }
    EXPECT_TRUE(none);
    EXPECT_TRUE(whole);
}

TEST(Backoff, EqualJitterKeepsAtLeastHalf) {
    const PolicySpec spec{.base = 100ms, .cap = 1s, .throttled_base = 100ms, .jitter = Jitter::equal};
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const auto drawn = delays(spec, seed, 2);
        EXPECT_GE(drawn[0], 50ms);
        EXPECT_LE(drawn[0], 100ms);
        EXPECT_GE(drawn[1], 100ms);
        EXPECT_LE(drawn[1], 200ms);
    }
}

TEST(Backoff, DecorrelatedJitterDrawsFromTheBaseToThreeTimesTheDelayBefore) {
    const PolicySpec spec{.base = 10ms, .cap = 1s, .throttled_base = 10ms, .jitter = Jitter::decorrelated};
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        Duration before = 10ms;
        for (const Duration delay : delays(spec, seed, 20)) {
            EXPECT_GE(delay, 10ms);
            EXPECT_LE(delay, std::min(Duration(1s), before * 3));
            before = delay;
        }
    }
}

TEST(Backoff, DecorrelatedJitterStaysAtTheCapWhenChanceKeepsItHigh) {
    const PolicySpec spec{.base = 1ms, .cap = 1h, .throttled_base = 1ms, .jitter = Jitter::decorrelated};
    // The width of the range less one, modulo the width, is the top; the largest number is close.
    Extreme high(std::numeric_limits<std::uint64_t>::max());
    Backoff backoff;
    for (int i = 0; i < 1000; ++i) EXPECT_LE(backoff.next(spec, false, high), 1h);
}

TEST(Backoff, TheSameSeedGivesTheSameDelaysAndAnotherSeedOthers) {
    for (const Jitter jitter : {Jitter::full, Jitter::equal, Jitter::decorrelated}) {
        const PolicySpec spec{.jitter = jitter};
        EXPECT_EQ(delays(spec, 42, 50), delays(spec, 42, 50));
        EXPECT_NE(delays(spec, 42, 50), delays(spec, 43, 50));
    }
}

TEST(Backoff, IsTheSameOnEveryMachine) {
    const PolicySpec spec{.jitter = Jitter::full};
    EXPECT_EQ(delays(spec, 7, 3), (std::vector<Duration>{754'761ns, 23'471'130ns, 7'730'727ns}));
}

TEST(Backoff, SpreadsEvenlyUnderFullJitter) {
    const PolicySpec spec{.base = 1s, .cap = 1s, .throttled_base = 1s, .jitter = Jitter::full};
    std::array<int, 10> tenths{};
    SeededRandom random(11);
    for (int i = 0; i < 10'000; ++i) {
        Backoff backoff;
        const Duration delay = backoff.next(spec, false, random);
        ++tenths[static_cast<std::size_t>(std::min<std::int64_t>(9, delay / 100ms))];
    }
    for (const int count : tenths) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace semel
