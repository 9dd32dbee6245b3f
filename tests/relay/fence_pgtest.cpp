// A relay that slept past its lease finds that its word counts no more, except where it tells what has left.

#include "tests/relay/fixture.hpp"

namespace semel::relaying {
namespace {

using conformance::Target;
using enum ScriptedSink::Answer;

class RelayFence : public RelayTest {
protected:
    /// The relay of `sleeper` sleeps in the middle of its publish; meanwhile its leases end and another takes over.
    void sleep_in_publish(ScriptedSink& sleeper, std::function<void()> meanwhile) {
        sleeper.before_publish(
            [this, slept = std::make_shared<bool>(false), meanwhile = std::move(meanwhile)](std::span<const Message>) {
                if (std::exchange(*slept, true)) return;
                age();
                meanwhile();
            });
    }
    [[nodiscard]] std::int64_t epochs() {
        return sqlite() ? count("SELECT min(epoch) FROM semel_outbox_partition")
                        : count("SELECT min(epoch) FROM semel.outbox_partition");
    }
};

TEST_P(RelayFence, AStaleFailureChangesNothing) {
    append({1});
    ScriptedSink sleeping([](const Message&) { return refuse; });
    Process sleeper = process(sleeping);
    ScriptedSink awake([](const Message&) { return away; });
    Process other = process(awake);
    sleep_in_publish(sleeping, [&] { other.relay->run_until_idle(); });
    for (int n = 0; n < 4; ++n) std::ignore = sleeper.relay->step();
    EXPECT_EQ(sleeping.publishes(), 1U);
    EXPECT_EQ(awake.publishes(), 1U);
    EXPECT_EQ(epochs(), 2);
    EXPECT_EQ(pending(), 1);
    EXPECT_EQ(waiting(), 0) << "the other's event is not delayed by one who has no say";
}

TEST_P(RelayFence, AStaleParkChangesNothing) {
    append({1}, "parks");
    RelayOptions how = options();
    how.rules.attempts_max = 1;
    ScriptedSink sleeping([](const Message&) { return refuse; });
    Process sleeper = process(sleeping, how);
    ScriptedSink awake([](const Message&) { return away; });
    Process other = process(awake, how);
    sleep_in_publish(sleeping, [&] { other.relay->run_until_idle(); });
    for (int n = 0; n < 4; ++n) std::ignore = sleeper.relay->step();
    EXPECT_EQ(sleeping.publishes(), 1U);
    EXPECT_EQ(parked(), 0);
    EXPECT_EQ(pending(), 1);
    // The same refusal under a lease that holds does count.
    awake.play([](const Message&) { return refuse; });
    EXPECT_TRUE(eventually([&] {
        other.relay->run_until_idle();
        return parked() == 1;
    }));
    EXPECT_EQ(pending(), 0);
}

TEST_P(RelayFence, WhatHasLeftIsDeletedWhoeverSaysSo) {
    append({1});
    ScriptedSink sleeping;
    Process sleeper = process(sleeping);
    ScriptedSink awake([](const Message&) { return away; });
    Process other = process(awake);
    sleep_in_publish(sleeping, [&] { other.relay->run_until_idle(); });
    for (int n = 0; n < 4; ++n) std::ignore = sleeper.relay->step();
    EXPECT_EQ(sleeping.taken().size(), 1U);
    EXPECT_EQ(pending(), 0);
}

TEST_P(RelayFence, AnEventThatIsSentOnceMoreSurvivesTheDeleteOfItsFirstRow) {
    append({1});
    ScriptedSink sleeping;
    Process sleeper = process(sleeping);
    sleep_in_publish(sleeping, [&] {
        // Redriven meanwhile: the same event under another row.
        run(sqlite() ? "UPDATE semel_outbox_pending SET pending_id = pending_id + 1000"
                     : "INSERT INTO semel.outbox_pending (position, aggregate, event_id, partition) SELECT position, "
                       "aggregate, event_id, partition FROM semel.outbox_pending");
    });
    for (int n = 0; n < 4; ++n) std::ignore = sleeper.relay->step();
    EXPECT_EQ(pending(), 1);
    sleeper.relay->run_until_idle();
}

TEST_P(RelayFence, ARelayThatSleptTakesPartInTheWorkAgain) {
    append({1, 2, 3});
    ScriptedSink sink;
    Process sleeper = process(sink);
    Process other = process(sink);
    sleep_in_publish(sink, [&] {
        for (int n = 0; n < 4; ++n) std::ignore = other.relay->step();
    });
    sleeper.relay->run_until_idle();
    other.relay->run_until_idle();
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(sink.first_taken().size(), 3U);
    expect_order(sink);
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayFence, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
