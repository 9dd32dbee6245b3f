#include "semel/storm/engine.hpp"

#include "semel/storm/chance.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace semel::storm {
namespace {

using namespace std::chrono_literals;

TEST(StormEngine, DoesThingsInTheOrderOfTheirTimesAndThenOfTheirAsking) {
    Engine engine;
    std::vector<int> done;
    engine.after(2s, [&] { done.push_back(3); });
    engine.after(1s, [&] {
        done.push_back(1);
        engine.after(-1s, [&] { done.push_back(2); });
    });
    engine.after(2s, [&] { done.push_back(4); });
    engine.run();
    EXPECT_THAT(done, ::testing::ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(engine.now(), Instant() + 2s);
}

TEST(StormEngine, StopsAtItsEnd) {
    Engine engine;
    int done = 0;
    engine.after(1s, [&] { ++done; });
    engine.after(3s, [&] { ++done; });
    engine.run(Instant() + 2s);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(engine.now(), Instant() + 2s);
}

TEST(StormChance, DrawsHaveTheirMeans) {
    SeededRandom random(1);
    double exponential_sum = 0;
    double normal_sum = 0;
    constexpr int draws = 100'000;
    for (int i = 0; i < draws; ++i) {
        exponential_sum += static_cast<double>(exponential(100ms, random).count());
        normal_sum += static_cast<double>(half_normal(10ms, 2ms, random).count());
    }
    EXPECT_NEAR(exponential_sum / draws, 100e6, 2e6);
    EXPECT_NEAR(normal_sum / draws, 10e6, 0.1e6);
}

}  // namespace
}  // namespace semel::storm
