#include "semel/testing/scripted_source.hpp"

#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace semel::testing {
namespace {

class ScriptedSourceTest : public ::testing::Test {
protected:
    std::vector<Delivery> take(std::size_t limit = 100) {
        return source.receive(limit, Deadline::after(clock.now(), std::chrono::seconds(1))).value();
    }
    static std::vector<std::string> ids(const std::vector<Delivery>& deliveries) {
        std::vector<std::string> all;
        for (const Delivery& one : deliveries) all.push_back(one.message.id);
        return all;
    }
    ManualClock clock;
    ScriptedSource source{clock};
};

TEST_F(ScriptedSourceTest, DeliversAgainInItsPlaceWhatWasNotAcknowledged) {
    for (const char* id : {"1", "2", "3"}) source.send({.id = id});
    const auto first = take(2);
    EXPECT_FALSE(first[0].redelivered);
    ASSERT_TRUE(source.acknowledge(std::vector{first[0].tag}));
    source.disconnect();
    const auto again = take();
    EXPECT_EQ(ids(again), (std::vector<std::string>{"2", "3"}));
    EXPECT_TRUE(again[0].redelivered);
    EXPECT_FALSE(again[1].redelivered) << "it had never been delivered";
    EXPECT_FALSE(source.acknowledge(std::vector{first[1].tag})) << "a tag from before means nothing";
}

TEST_F(ScriptedSourceTest, LosesAcknowledgementsWithAndWithoutSayingSo) {
    source.send({.id = "1"});
    source.play({.lose_acknowledgement = 100});
    EXPECT_TRUE(source.acknowledge(std::vector{take()[0].tag}));
    source.disconnect();
    source.play({.refuse_acknowledgement = 100});
    EXPECT_FALSE(source.acknowledge(std::vector{take()[0].tag}));
    EXPECT_FALSE(source.empty());
    source.disconnect();
    source.play({});
    EXPECT_TRUE(source.acknowledge(std::vector{take()[0].tag}));
    EXPECT_TRUE(source.empty());
}

TEST_F(ScriptedSourceTest, DeliversTwiceUnderTwoTags) {
    source.send({.id = "1"});
    source.play({.duplicate = 100});
    const auto twice = take(2);
    EXPECT_EQ(ids(twice), (std::vector<std::string>{"1", "1"}));
    EXPECT_NE(twice[0].tag, twice[1].tag);
}

TEST_F(ScriptedSourceTest, KeepsTheOrderOfEachKeyWhenItShuffles) {
    source.play({.shuffle = true});
    for (int n = 100; n < 200; ++n) source.send({.id = std::to_string(n), .key = n % 2 == 0 ? "a" : "b"});
    std::string a;
    std::string b;
    bool mixed = false;
    for (const Delivery& one : take()) {
        std::string& newest = one.message.key == "a" ? a : b;
        EXPECT_LT(newest, one.message.id);
        newest = one.message.id;
        mixed = mixed || (!a.empty() && !b.empty() && std::abs(std::stoi(b) - std::stoi(a)) > 1);
    }
    EXPECT_TRUE(mixed) << "but not the order across keys";
}

TEST_F(ScriptedSourceTest, GivesNothingWhileItIsPausedAndWaitsNoLongerThanTold) {
    source.send({.id = "1"});
    source.pause();
    const Instant before = clock.now();
    EXPECT_TRUE(take().empty());
    EXPECT_EQ(clock.now(), before + std::chrono::seconds(1));
    source.resume();
    EXPECT_EQ(take().size(), 1U);
    source.wake();
    EXPECT_TRUE(take().empty());
    EXPECT_EQ(clock.now(), before + std::chrono::seconds(1)) << "woken before it began to wait";
}

}  // namespace
}  // namespace semel::testing
