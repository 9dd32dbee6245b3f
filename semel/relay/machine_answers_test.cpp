// What the machine makes of the sink's answers.

#include "semel/relay/machine_fixture_test.hpp"
#include "semel/sink/sink.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;
using namespace relay_action;

class MachineAnswers : public Machine {};
using Ids = std::vector<std::int64_t>;

TEST_F(MachineAnswers, BehindAnEventThatWasNotTakenNothingOfItsAggregateCounts) {
    hold({1});
    give({{.id = 1, .aggregate = 1}, {.id = 2, .aggregate = 2}, {.id = 3, .aggregate = 1}});
    answer({no(Fault::unknown), {}, no(Fault::unavailable)});
    EXPECT_EQ(acknowledged(), Ids{2});
    ASSERT_EQ(settlement().failures.size(), 1U);
    EXPECT_EQ(settlement().failures[0].row.id, 1);
    EXPECT_EQ(settlement().failures[0].attempts, 1);
    EXPECT_GT(settlement().failures[0].delay, Duration::zero());
}

TEST_F(MachineAnswers, WaitsLongerAfterEachAttempt) {
    Duration before{};
    for (const std::int32_t attempts : {0, 3, 6}) {
        RelayMachine one(rules(), random);
        std::ignore = one.next(clock.now());
        one.tended(clock.now(), {{.partition = 1, .epoch = 1}}, 1, clock.now());
        std::ignore = one.next(clock.now());
        one.read({{.row = {.id = 1, .position = 1, .partition = 1}, .aggregate = 1, .attempts = attempts}}, {Message{}},
                 clock.now());
        std::ignore = one.next(clock.now());
        one.published(std::vector{no(Fault::rejected)}, clock.now());
        ASSERT_EQ(one.settlement().failures.size(), 1U);
        EXPECT_GT(one.settlement().failures[0].delay, before);
        before = one.settlement().failures[0].delay;
    }
    EXPECT_LE(before, rules().backoff.cap);
}

TEST_F(MachineAnswers, WaitsForASinkThatIsAwayAndWritesNothing) {
    hold({1});
    give({{.id = 1, .aggregate = 1}, {.id = 2, .aggregate = 2}});
    answer({no(Fault::unavailable), no(Fault::unavailable)});
    EXPECT_TRUE(settlement().empty());
    const Wait wait = expect<Wait>();
    EXPECT_FALSE(wait.for_bell) << "a ring does not bring the sink back";
    EXPECT_GT(wait.until, clock.now());
    clock.advance(wait.until - clock.now());
    expect<ReadPending>();
}

TEST_F(MachineAnswers, WaitsAsLongAsTheSinkAsks) {
    hold({1});
    give({{.id = 1, .aggregate = 1}, {.id = 2, .aggregate = 2}});
    answer({{}, no(Fault::throttled, 7s)});
    EXPECT_EQ(acknowledged(), Ids{1});
    EXPECT_TRUE(settlement().failures.empty());
    settle();
    EXPECT_GE(expect<Wait>().until, clock.now() + 7s);
}

TEST_F(MachineAnswers, OneAwayAmongManyWaitsAlone) {
    hold({1});
    give({{.id = 1, .aggregate = 1}, {.id = 2, .aggregate = 2}});
    answer({{}, no(Fault::unavailable)});
    ASSERT_EQ(settlement().failures.size(), 1U);
    settle();
    EXPECT_TRUE(expect<Wait>().for_bell) << "the sink is there for the others";
}

TEST_F(MachineAnswers, StopsAskingASinkThatKeepsFailing) {
    hold({1});
    int asked = 0;
    const Instant end = clock.now() + 8s;
    while (clock.now() < end) {
        const RelayAction action = machine.next(clock.now());
        if (std::holds_alternative<ReadPending>(action))
            machine.read({{.row = {.id = 1, .position = 1, .partition = 1}, .aggregate = 1}}, {Message{}}, clock.now());
        else if (std::holds_alternative<Publish>(action)) {
            ++asked;
            machine.published(std::vector{no(Fault::unavailable)}, clock.now());
        } else if (const auto* wait = std::get_if<Wait>(&action))
            clock.advance(std::max(wait->until - clock.now(), Duration(1ms)));
        else
            break;
    }
    EXPECT_GE(asked, 3);
    EXPECT_LE(asked, 6) << "the breaker is open for five seconds";
}

TEST_F(MachineAnswers, BlocksAnAggregateForEver) {
    hold({1});
    give({{.id = 1, .aggregate = 1, .attempts = 1000}, {.id = 2, .aggregate = 2}});
    answer({no(Fault::rejected), {}});
    ASSERT_EQ(settlement().failures.size(), 1U);
    EXPECT_TRUE(settlement().parked.empty());
    EXPECT_EQ(acknowledged(), Ids{2});
}

TEST_F(MachineAnswers, ParksAnEventAndItsFollowersInOrder) {
    hold({1});
    give({{.id = 1, .aggregate = 1, .attempts = 2, .type = "parks"},
          {.id = 2, .aggregate = 2},
          {.id = 3, .aggregate = 1, .type = "parks"},
          {.id = 4, .aggregate = 1, .type = "parks"}});
    answer({no(Fault::rejected), {}, no(Fault::unavailable), no(Fault::unavailable)});
    EXPECT_EQ(acknowledged(), Ids{2});
    EXPECT_TRUE(settlement().failures.empty());
    Ids parked;
    for (const Parking& one : settlement().parked) {
        parked.push_back(one.row.id);
        EXPECT_TRUE(one.blocks);
        EXPECT_EQ(one.under, (HeldPartition{.partition = 1, .epoch = 1}));
    }
    EXPECT_EQ(parked, (Ids{1, 3, 4}));
    EXPECT_EQ(settlement().parked[0].attempts, 3);
}

TEST_F(MachineAnswers, TriesAnEventSeveralTimesBeforeItIsParked) {
    hold({1});
    give({{.id = 1, .aggregate = 1, .attempts = 1, .type = "parks"}});
    answer({no(Fault::rejected)});
    EXPECT_EQ(settlement().failures.size(), 1U);
    EXPECT_TRUE(settlement().parked.empty());
}

TEST_F(MachineAnswers, SkipsAnEventAlone) {
    hold({1});
    give({{.id = 1, .aggregate = 1, .attempts = 2, .type = "skips"}, {.id = 2, .aggregate = 1, .type = "skips"}});
    answer({no(Fault::rejected), no(Fault::unavailable)});
    ASSERT_EQ(settlement().parked.size(), 1U);
    EXPECT_FALSE(settlement().parked[0].blocks);
    EXPECT_TRUE(settlement().parked[0].reason.starts_with("skipped")) << settlement().parked[0].reason;
    EXPECT_TRUE(settlement().failures.empty());
}

TEST_F(MachineAnswers, SetsAsideAtOnceWhatIsRefusedForGood) {
    hold({1});
    give({{.id = 1, .aggregate = 1},
          {.id = 2, .aggregate = 1},
          {.id = 3, .aggregate = 2, .type = "parks"},
          {.id = 4, .aggregate = 3, .type = "skips"},
          {.id = 5, .aggregate = 3, .type = "skips"},
          {.id = 6, .aggregate = 4}});
    const Status never = fail(final_refusal(no(Fault::broken).error()));
    answer({never, no(Fault::unavailable), never, never, no(Fault::unavailable), {}});
    EXPECT_EQ(acknowledged(), Ids{6});
    EXPECT_TRUE(settlement().failures.empty()) << "nothing of it is tried again";
    std::vector<std::pair<std::int64_t, bool>> parked;
    for (const Parking& one : settlement().parked) parked.emplace_back(one.row.id, one.blocks);
    EXPECT_EQ(parked, (std::vector<std::pair<std::int64_t, bool>>{{1, true}, {2, true}, {3, true}, {4, false}}));
    settle();
    expect<ReadPending>();  // What stood behind the skipped one need not wait for the next look.
}

TEST_F(MachineAnswers, ARefusalForGoodDoesNotShowThatTheSinkIsThere) {
    hold({1});
    give({{.id = 1, .aggregate = 1, .type = "parks"}, {.id = 2, .aggregate = 2}, {.id = 3, .aggregate = 3}});
    answer({fail(final_refusal(no(Fault::broken).error())), no(Fault::unavailable), no(Fault::unavailable)});
    EXPECT_EQ(settlement().parked.size(), 1U);
    EXPECT_TRUE(settlement().failures.empty()) << "a sink that is away is waited for, and no row written";
    settle();
    EXPECT_FALSE(expect<Wait>().for_bell);
}

TEST_F(MachineAnswers, WhatStandsBehindARefusalForGoodDoesNotShowThatTheSinkIsAway) {
    hold({1});
    give({{.id = 1, .aggregate = 1, .type = "skips"}, {.id = 2, .aggregate = 1, .type = "skips"}});
    answer({fail(final_refusal(no(Fault::broken).error())), fail(behind_unacknowledged())});
    EXPECT_EQ(settlement().parked.size(), 1U);
    settle();
    expect<ReadPending>();  // At once: nobody was asked, so nobody was away.
}

TEST_F(MachineAnswers, NeverParksWhatMayHaveArrived) {
    hold({1});
    give({{.id = 1, .aggregate = 1, .attempts = 1000, .type = "parks"}});
    answer({no(Fault::unknown)});
    EXPECT_TRUE(settlement().parked.empty());
    EXPECT_EQ(settlement().failures.size(), 1U);
}

TEST_F(MachineAnswers, SetsAsideWhatComesBehindAParkedEvent) {
    hold({1});
    give({{.id = 1, .aggregate = 1, .behind_parked = true}, {.id = 2, .aggregate = 2}});
    ASSERT_EQ(settlement().parked.size(), 1U);
    EXPECT_TRUE(settlement().parked[0].blocks);
    settle();
    expect<Publish>();
    ASSERT_EQ(machine.batch().size(), 1U);
    EXPECT_EQ(machine.batch()[0].position, 2);
}

TEST_F(MachineAnswers, TakesAMissingAnswerForAnUnknownOne) {
    hold({1});
    give({{.id = 1, .aggregate = 1}, {.id = 2, .aggregate = 2}});
    answer({Status{}});
    EXPECT_EQ(acknowledged(), Ids{1});
    ASSERT_EQ(settlement().failures.size(), 1U);
    EXPECT_EQ(settlement().failures[0].row.id, 2);
}

}  // namespace
}  // namespace semel
