#include "semel/storm/contention.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace semel::storm {
namespace {

struct Published {
    std::optional<Jitter> jitter;
    double completion_ms;
    double calls;
};

struct Mean {
    double completion_ms = 0;
    double calls = 0;
};

Mean mean_of(const std::optional<Jitter>& jitter) {
    constexpr int runs = 100;
    ContentionModel model;
    if (jitter) model.policy = published_policy(*jitter);
    Mean mean;
    for (int i = 0; i < runs; ++i) {
        const ContentionResult one = run(model, static_cast<std::uint64_t>(i) + 1);
        mean.completion_ms += std::chrono::duration<double, std::milli>(one.completion).count() / runs;
        mean.calls += static_cast<double>(one.calls) / runs;
    }
    return mean;
}

// At 100 clients, as published with the model.
TEST(StormContention, DoesWhatWasPublishedOfJitter) {
    const std::map<std::string, Published> all{{"exponential", {Jitter::none, 64045, 1856}},
                                               {"decorrelated", {Jitter::decorrelated, 4669, 1000}},
                                               {"equal", {Jitter::equal, 6621, 814}},
                                               {"full", {Jitter::full, 4840, 796}},
                                               {"none", {std::nullopt, 2026, 2423}}};
    std::map<std::string, Mean> measured;
    for (const auto& [name, published] : all) {
        const Mean mean = measured[name] = mean_of(published.jitter);
        EXPECT_NEAR(mean.calls, published.calls, 0.03 * published.calls) << name;
        // The last client decides alone when it is over: that varies far more than what all of them did.
        EXPECT_NEAR(mean.completion_ms, published.completion_ms, 0.1 * published.completion_ms) << name;
    }
    EXPECT_LT(measured["full"].calls, measured["equal"].calls);
    EXPECT_LT(measured["equal"].calls, measured["decorrelated"].calls);
    EXPECT_LT(measured["decorrelated"].calls, measured["exponential"].calls);
    EXPECT_LT(measured["exponential"].calls, measured["none"].calls);
}

TEST(StormContention, TheSameSeedIsTheSameWorld) {
    ContentionModel model;
    model.policy = published_policy(Jitter::full);
    const auto one = run(model, 7);
    const auto again = run(model, 7);
    const auto other = run(model, 8);
    EXPECT_EQ(one.calls, again.calls);
    EXPECT_EQ(one.completion, again.completion);
    EXPECT_NE(one.completion, other.completion);
}

TEST(StormContention, EveryClientIsDoneAndEveryWriteIsCounted) {
    ContentionModel model;
    model.clients = 10;
    const auto result = run(model, 3);
    EXPECT_GE(result.calls, 10U);
    std::uint64_t drawn = 0;
    for (const std::uint32_t one : result.by_time) drawn += one;
    EXPECT_EQ(drawn, result.calls);
}

}  // namespace
}  // namespace semel::storm
