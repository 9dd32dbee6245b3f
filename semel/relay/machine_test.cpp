#include "semel/relay/machine.hpp"

#include "semel/relay/machine_fixture_test.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;
using namespace relay_action;

using Ids = std::vector<std::int64_t>;

TEST_F(Machine, ReadsPublishesAndSettlesInTurn) {
    hold({1, 2});
    give({{.id = 1, .aggregate = 1}, {.id = 2, .aggregate = 2}});
    ASSERT_EQ(machine.batch().size(), 2U);
    answer({{}, {}});
    EXPECT_EQ(acknowledged(), (Ids{1, 2}));
    settle();
    EXPECT_TRUE(settlement().empty());
    const Wait wait = expect<Wait>();
    EXPECT_TRUE(wait.for_bell);
    EXPECT_EQ(wait.until, clock.now() + 1s);
}

TEST_F(Machine, WithoutPartitionsDoesNothing) {
    hold({});
    EXPECT_FALSE(expect<Wait>().for_bell);
}

TEST_F(Machine, LooksAgainAtOnceWhenThereIsMore) {
    hold({1});
    std::vector<Row> full;
    for (std::int64_t n = 1; n <= 8; ++n) full.push_back({.id = n, .aggregate = n});
    give(full);
    answer(std::vector<Status>(8));
    settle();
    give({});
    EXPECT_TRUE(expect<Wait>().for_bell);
}

TEST_F(Machine, GivesACrowdedPartitionAReadOfItsOwnAndTheOthersTheirTurn) {
    hold({1, 2, 3, 4});
    EXPECT_EQ(expect<ReadPending>().each, 2U);
    give({{.id = 1, .aggregate = 1}, {.id = 2, .aggregate = 2}});
    answer({{}, {}});
    settle();
    const ReadPending focused = expect<ReadPending>();
    ASSERT_EQ(focused.partitions.size(), 1U);
    EXPECT_EQ(focused.partitions[0].partition, 1);
    EXPECT_EQ(focused.each, 8U);
}

TEST_F(Machine, NeverPublishesMoreThanABatch) {
    hold({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    std::vector<Row> rows;
    for (std::int32_t n = 1; n <= 10; ++n) rows.push_back({.id = n, .aggregate = n, .partition = n});
    give(rows);
    expect<Publish>();
    ASSERT_EQ(machine.batch().size(), 8U);
    EXPECT_EQ(machine.batch().back().position, 8) << "the first by position";
    answer(std::vector<Status>(8));
    settle();
    expect<ReadPending>();
}

TEST_F(Machine, IsWokenByTheBell) {
    hold({1});
    give({});
    EXPECT_TRUE(expect<Wait>().for_bell);
    machine.ring();
    give({});
    EXPECT_TRUE(expect<Wait>().for_bell) << "one ring, one look";
}

TEST_F(Machine, RenewsItsLeasesThreeTimesAsOftenAsTheyEnd) {
    hold({1});
    give({});
    clock.advance(9s);
    give({});
    clock.advance(1s);
    expect<Tend>();
}

TEST_F(Machine, StopsPublishingBeforeItsLeasesEnd) {
    hold({1});
    give({{.id = 1, .aggregate = 1}});
    EXPECT_EQ(expect<Publish>().deadline.at(), clock.now() + 10s);
    // It slept: what it read may belong to someone else by now.
    clock.advance(28s);
    expect<Tend>();
    machine.database_failed(clock.now());
    clock.advance(1min);
    expect<Tend>();
    machine.tended(clock.now(), {{.partition = 1, .epoch = 2}}, 1, clock.now());
    expect<ReadPending>();
    EXPECT_TRUE(machine.batch().empty());
}

TEST_F(Machine, NeverPublishesLongerThanItsLeasesLast) {
    hold({1});
    give({{.id = 1, .aggregate = 1}});
    const Instant begun = clock.now();
    clock.advance(9s);
    EXPECT_EQ(expect<Publish>().deadline.at(), begun + 19s);
    clock.advance(1s);
    expect<Tend>();
    machine.tended(begun - 10s, {{.partition = 1, .epoch = 1}}, 1, clock.now());
    EXPECT_EQ(expect<Publish>().deadline.at(), begun + 17s) << "27 s after the renewal was asked for";
}

TEST_F(Machine, PublishesNothingUnderALeaseThatEndedWhileItWasRenewed) {
    hold({1});
    give({{.id = 1, .aggregate = 1}});
    clock.advance(10s);
    expect<Tend>();
    const Instant begun = clock.now();
    clock.advance(28s);
    machine.tended(begun, {{.partition = 1, .epoch = 1}}, 1, clock.now());
    expect<Tend>();
    EXPECT_TRUE(machine.batch().empty());
}

TEST_F(Machine, DropsWhatItReadInAPartitionThatItLost) {
    hold({1, 2});
    give({{.id = 1, .aggregate = 1, .partition = 1}, {.id = 2, .aggregate = 2, .partition = 2}});
    clock.advance(10s);
    expect<Tend>();
    machine.tended(clock.now(), {{.partition = 1, .epoch = 2}, {.partition = 2, .epoch = 1}}, 2, clock.now());
    expect<ReadPending>();
}

TEST_F(Machine, LooksForPartitionsSoonWhenItHasLessThanItsShare) {
    expect<Tend>();
    machine.tended(clock.now(), {{.partition = 1, .epoch = 1}}, 2, clock.now());
    give({});
    clock.advance(1s);
    expect<Tend>();
}

TEST_F(Machine, WritesDownWhatWasAcknowledgedBeforeItReadsAgain) {
    hold({1});
    give({{.id = 1, .aggregate = 1}});
    answer({{}});
    expect<Settle>();
    machine.database_failed(clock.now());
    EXPECT_FALSE(expect<Wait>().for_bell);
    clock.advance(1min);
    expect<Settle>();
    EXPECT_EQ(acknowledged(), Ids{1});
    machine.settled();
    hold({1});
    expect<ReadPending>();
}

TEST_F(Machine, DrainsByFinishingWhatItBegan) {
    hold({1});
    give({{.id = 1, .aggregate = 1}});
    expect<Publish>();
    machine.drain();
    machine.published(std::vector<Status>(1), clock.now());
    settle();
    expect<Leave>();
    machine.left();
    expect<Finished>();
}

TEST_F(Machine, DrainsWithoutPublishingWhatItOnlyRead) {
    hold({1});
    give({{.id = 1, .aggregate = 1}});
    machine.drain();
    expect<Leave>();
}

TEST(RelayRules, RefuseWhatCannotWork) {
    EXPECT_TRUE(check(RelayRules()));
    const auto refused = [](auto change) {
        RelayRules rules;
        change(rules);
        return !check(rules);
    };
    EXPECT_TRUE(refused([](RelayRules& rules) { rules.batch = 0; }));
    EXPECT_TRUE(refused([](RelayRules& rules) { rules.lease = 10ms; }));
    EXPECT_TRUE(refused([](RelayRules& rules) { rules.publish_limit = rules.lease; }));
    EXPECT_TRUE(refused([](RelayRules& rules) { rules.poll = 0s; }));
    EXPECT_TRUE(refused([](RelayRules& rules) { rules.attempts_max = 0; }));
    EXPECT_TRUE(refused([](RelayRules& rules) { rules.breaker.probes = 0; }));
}

}  // namespace
}  // namespace semel
