#include "semel/http/load.hpp"

#include "semel/http/link.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace semel::http {
namespace {

using namespace std::chrono_literals;

TEST(Load, TakesWhateverAFreeWorkerCanBegin) {
    Load load(4, 10);
    for (int i = 0; i < 100; ++i) load.on_served(10s);
    EXPECT_EQ(load.refuse(3, 0, 1ms), std::nullopt) << "or the estimate could never recover";
    EXPECT_NE(load.refuse(4, 0, 1ms), std::nullopt);
}

TEST(Load, RefusesWhatCannotBeServedBeforeItsDeadline) {
    Load load(2, 1000);
    for (int i = 0; i < 200; ++i) load.on_served(100ms);
    EXPECT_NEAR(std::chrono::duration<double>(load.usual()).count(), 0.1, 0.001);
    // Nine before it on two workers take half a second, and it needs a tenth itself.
    EXPECT_EQ(load.refuse(2, 9, 700ms), std::nullopt);
    const auto refused = load.refuse(2, 9, 500ms);
    ASSERT_TRUE(refused.has_value());
    EXPECT_NEAR(std::chrono::duration<double>(*refused).count(), 0.5, 0.01);
}

TEST(Load, RefusesWhenTheQueueIsFullHoweverFastItMoves) {
    Load load(1, 3);
    EXPECT_EQ(load.refuse(1, 2, 1h), std::nullopt);
    EXPECT_NE(load.refuse(1, 3, 1h), std::nullopt);
}

TEST(Load, FollowsAChange) {
    Load load(1, 10);
    for (int i = 0; i < 100; ++i) load.on_served(1s);
    for (int i = 0; i < 60; ++i) load.on_served(1ms);
    EXPECT_LT(load.usual(), 10ms);
}

class LinkTableTest : public ::testing::Test {
protected:
    void add(Link& link, Waiting waiting) {
        now += 1s;
        table.add(link, waiting, now, Instant::max());
    }
    void move(Link& link, Waiting waiting) {
        now += 1s;
        table.move(link, waiting, now, Instant::max());
    }
    Instant now{};
    LinkTable table;
    Link a, b, c;
};

TEST_F(LinkTableTest, GivesUpWhoWaitedLongestWithoutAHead) {
    add(a, Waiting::first_byte);
    add(b, Waiting::first_byte);
    EXPECT_EQ(table.victim(now), &a);
    // It completes a request and waits for the next: now the other has waited longer.
    move(a, Waiting::executor);
    move(a, Waiting::write);
    move(a, Waiting::idle);
    EXPECT_EQ(table.victim(now), &b);
}

TEST_F(LinkTableTest, DoesNotTakeAClientThatJustCameForASlowOne) {
    add(a, Waiting::body);
    now += 4s;
    add(b, Waiting::head);
    EXPECT_EQ(table.victim(now), &a) << "a head of a moment against a body of seconds";
    EXPECT_EQ(table.victim(now + 1s), &b) << "both slow: a head takes no longer than that";
}

TEST_F(LinkTableTest, GivesUpSlowBodiesThenSlowReadersAndNeverWhatIsHandled) {
    add(a, Waiting::executor);
    add(b, Waiting::write);
    add(c, Waiting::body);
    EXPECT_EQ(table.victim(now + 5s), &c);
    table.remove(c);
    EXPECT_EQ(table.victim(now + 5s), &b);
    table.remove(b);
    EXPECT_EQ(table.victim(now + 5s), nullptr);
    table.remove(b);
    EXPECT_EQ(table.size(), 1U);
}

}  // namespace
}  // namespace semel::http
