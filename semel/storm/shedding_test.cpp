#include "semel/storm/shedding.hpp"
#include "semel/storm/layers.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace semel::storm {
namespace {

SheddingResult mean_shedding(const SheddingModel& model) {
    constexpr int runs = 20;
    SheddingResult mean;
    for (int i = 0; i < runs; ++i) {
        const SheddingResult one = run(model, static_cast<std::uint64_t>(i) + 1);
        mean.success += one.success / runs;
        mean.load += one.load / runs;
    }
    return mean;
}

TEST(StormShedding, DoesWhatWasPublishedOfTokenBuckets) {
    const SheddingResult bucket = mean_shedding({.attempts = 4, .bucket = Bucket{}});
    EXPECT_NEAR(bucket.success, 0.557, 0.005);
    EXPECT_NEAR(bucket.load, 1.11, 0.01);
    const SheddingResult fixed = mean_shedding({.attempts = 4});
    EXPECT_NEAR(fixed.success, 0.938, 0.005);
    EXPECT_NEAR(fixed.load, 1.87, 0.015);
    const SheddingResult once = mean_shedding({});
    EXPECT_NEAR(once.success, 0.501, 0.005);
    EXPECT_NEAR(once.load, 1, 1e-9);
}

TEST(StormShedding, FixedRetriesFollowTheirFormula) {
    for (const double failure : {0.1, 0.3, 0.5, 0.7, 0.9}) {
        const SheddingResult fixed = mean_shedding({.failure_rate = failure, .attempts = 4});
        const double all_fail = std::pow(failure, 4);
        EXPECT_NEAR(fixed.success, 1 - all_fail, 0.005) << failure;
        EXPECT_NEAR(fixed.load, (1 - all_fail) / (1 - failure), 0.02) << failure;
    }
}

TEST(StormShedding, ABucketBoundsTheLoadWhateverFails) {
    for (const double failure : {0.0, 0.5, 1.0})
        EXPECT_LE(mean_shedding({.failure_rate = failure, .attempts = 4, .bucket = Bucket{}}).load, 1.12) << failure;
}

TEST(StormLayers, RetriesInEveryLayerMultiplyAndOneOwnerDoesNot) {
    EXPECT_EQ(calls_at_the_end({}), 81U);
    EXPECT_EQ(calls_at_the_end({.one_owner = true}), 3U);
    EXPECT_EQ(calls_at_the_end({.layers = 1}), 3U);
    EXPECT_EQ(calls_at_the_end({.layers = 6, .attempts = 1}), 1U);
}

}  // namespace
}  // namespace semel::storm
