// An event that the broker will never take concerns its own aggregate and nobody else.

#include "tests/relay/fixture.hpp"

namespace semel::relaying {
namespace {

using conformance::Target;
using enum ScriptedSink::Answer;

class RelayPoison : public RelayTest {
protected:
    /// Two events of aggregate 1, the first of them poison, among those of others; then one more.
    void run_with_poison(const std::string& type) {
        append({1}, type);
        append({2, 1, 3}, type);
        poison = 1;
        sink.play([this](const Message& message) { return message.position == poison ? refuse : take; });
        one = process(sink);
        settle_down();
        append({1, 2}, type);
        settle_down();
    }
    /// Until nothing more happens, however long the delays are.
    void settle_down() {
        for (int n = 0; n < 6; ++n) {
            // A sink that took nothing is left alone for a moment, by the clock.
            std::this_thread::sleep_for(std::chrono::milliseconds(25));
            one.relay->run_until_idle();
            come_due();
            bell.ring();
        }
    }
    [[nodiscard]] std::vector<std::string> taken() const {
        std::vector<std::string> all;
        for (const Message& message : sink.taken()) all.push_back(message.aggregate.id);
        std::ranges::sort(all);
        return all;
    }

    ScriptedSink sink;
    Process one;
    std::int64_t poison = 0;
};

TEST_P(RelayPoison, BlocksItsAggregateAndNoOther) {
    run_with_poison("order");
    EXPECT_EQ(taken(), (std::vector<std::string>{"2", "2", "3"}));
    EXPECT_EQ(pending(), 3) << "the poison and the two behind it";
    EXPECT_EQ(parked(), 0);
    EXPECT_GE(count(sqlite() ? Sql("SELECT max(attempts) FROM semel_outbox_pending")
                             : Sql("SELECT max(attempts) FROM semel.outbox_waiting")),
              8)
        << "tried again and again";
    poison = 0;
    settle_down();
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(waiting(), 0) << "what it waited for goes with it";
    expect_order(sink);
    EXPECT_EQ(sink.taken().size(), 6U);
}

TEST_P(RelayPoison, IsParkedWithItsFollowersInOrder) {
    run_with_poison("parks");
    EXPECT_EQ(taken(), (std::vector<std::string>{"2", "2", "3"}));
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(waiting(), 0);
    EXPECT_EQ(parked(), 3) << "the one that came later too";
    EXPECT_EQ(count(sqlite() ? Sql("SELECT count(*) FROM semel_outbox_parked WHERE blocks AND aggregate_id = '1'")
                             : Sql("SELECT count(*) FROM semel.outbox_parked WHERE blocks AND aggregate_id = '1'")),
              3);
    EXPECT_EQ(one.relay->report().parked, 3U);
}

TEST_P(RelayPoison, IsSkippedAlone) {
    run_with_poison("skips");
    EXPECT_EQ(taken(), (std::vector<std::string>{"1", "1", "2", "2", "3"}));
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(parked(), 1);
    EXPECT_EQ(count(sqlite() ? Sql("SELECT count(*) FROM semel_outbox_parked WHERE NOT blocks AND attempts = 2 "
                                   "AND reason LIKE 'skipped: the broker refuses this message%'")
                             : Sql("SELECT count(*) FROM semel.outbox_parked WHERE NOT blocks AND attempts = 2 "
                                   "AND reason LIKE 'skipped: the broker refuses this message%'")),
              1);
    expect_order(sink);
}

TEST_P(RelayPoison, AnAnswerThatGotLostIsAskedForAgainUnderTheSameId) {
    append({1, 1, 2});
    std::set<std::int64_t> lost;
    sink.play([&](const Message& message) { return lost.insert(message.position).second ? lose_answer : take; });
    one = process(sink);
    settle_down();
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(sink.first_taken().size(), 3U);
    EXPECT_EQ(sink.taken().size(), 6U) << "each once more, with its id";
    expect_order(sink);
}

TEST_P(RelayPoison, AnEventThatWaitsForItsNextAttemptHidesTheLaterOnesOfItsAggregate) {
    RelayOptions patient = options();
    patient.rules.backoff.base = std::chrono::minutes(1);
    patient.rules.backoff.throttled_base = std::chrono::minutes(1);
    patient.rules.backoff.cap = std::chrono::minutes(10);
    append({1, 2});
    sink.play([](const Message& message) { return message.aggregate.id == "1" ? lose : take; });
    one = process(sink, patient);
    one.relay->run_until_idle();
    EXPECT_EQ(waiting(), 1);
    append({1, 3});
    sink.play({});
    bell.ring();
    one.relay->run_until_idle();
    EXPECT_EQ(taken(), (std::vector<std::string>{"2", "3"}));
    settle_down();
    EXPECT_EQ(taken(), (std::vector<std::string>{"1", "1", "2", "3"}));
    expect_order(sink);
}

TEST_P(RelayPoison, ASinkThatIsAwayCostsNoWrite) {
    append({1, 2});
    sink.play([](const Message&) { return away; });
    one = process(sink);
    one.relay->run_until_idle();
    EXPECT_EQ(sink.publishes(), 1U) << "it waits";
    EXPECT_EQ(pending(), 2);
    EXPECT_EQ(waiting(), 0);
    EXPECT_EQ(one.relay->report().failed, 0U);
    sink.play([](const Message&) { return take; });
    EXPECT_TRUE(eventually([&] {
        one.relay->run_until_idle();
        return sink.taken().size() == 2;
    }));
    EXPECT_EQ(pending(), 0);
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayPoison, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
