// What was set aside is listed with its reason, and leaves in order once someone sends it again.

#include "semel/base/failpoint.hpp"
#include "semel/outbox/parked.hpp"
#include "tests/relay/fixture.hpp"

namespace semel::relaying {
namespace {

using conformance::Target;
using enum ScriptedSink::Answer;

class RelayRedrive : public RelayTest {
protected:
    [[nodiscard]] static RelayOptions at_once() {
        RelayOptions how = options();
        how.rules.attempts_max = 1;
        return how;
    }
    [[nodiscard]] std::int64_t redrive(int aggregate, const std::string& type = "parks") {
        const auto outcome =
            Parked::of(*database)->redrive("shop", {.type = type, .id = std::to_string(aggregate)}, soon());
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : -1;
    }
    [[nodiscard]] std::vector<ParkedEvent> listed() {
        const auto all = Parked::of(*database)->list(100, soon());
        EXPECT_TRUE(all) << all.error().describe();
        return all.value_or(std::vector<ParkedEvent>());
    }
};

TEST_P(RelayRedrive, KeepsTheOrderOfTheAggregate) {
    ScriptedSink sink([](const Message& message) { return message.aggregate.id == "1" ? refuse : take; });
    Process one = process(sink, at_once());
    append({1, 2, 1}, "parks");
    one.relay->run_until_idle();
    append({1}, "parks");
    bell.ring();
    one.relay->run_until_idle();
    const auto parked_events = listed();
    ASSERT_EQ(parked_events.size(), 3U);
    EXPECT_EQ(parked_events[0].aggregate.id, "1");
    EXPECT_EQ(parked_events[0].tenant, "shop");
    EXPECT_EQ(parked_events[0].attempts, 1);
    EXPECT_NE(parked_events[0].reason.find("the broker refuses this message"), std::string::npos);
    EXPECT_EQ(parked_events[2].reason, "follows a parked event of its aggregate");
    EXPECT_TRUE(parked_events[2].blocks);

    sink.play({});
    EXPECT_EQ(redrive(1), 3);
    EXPECT_EQ(redrive(1), 0) << "once";
    append({1}, "parks");
    bell.ring();
    one.relay->run_until_idle();
    EXPECT_EQ(sink.taken().size(), 5U) << "each once";
    expect_order(sink);
    EXPECT_EQ(pending(), 0);
    EXPECT_TRUE(listed().empty());
}

TEST_P(RelayRedrive, WhatIsStillPoisonIsSetAsideAgainWithItsFollowers) {
    ScriptedSink sink([](const Message&) { return refuse; });
    Process one = process(sink, at_once());
    append({1, 1}, "parks");
    one.relay->run_until_idle();
    EXPECT_EQ(redrive(1), 2);
    bell.ring();
    one.relay->run_until_idle();
    EXPECT_EQ(parked(), 2);
    EXPECT_EQ(pending(), 0);
    EXPECT_TRUE(sink.taken().empty());
}

TEST_P(RelayRedrive, AFollowerThatWasAboutToBeSetAsideGoesAlong) {
    ScriptedSink sink([](const Message&) { return refuse; });
    Process one = process(sink, at_once());
    append({1}, "parks");
    one.relay->run_until_idle();
    append({1}, "parks");
    // The relay has seen that its predecessor is parked; before it can write that down, someone sends both again.
    std::int64_t sent = 0;
    {
        const failpoint::Hook hook([&](std::string_view place) {
            if (place == "relay.before_settle" && sent == 0) sent = redrive(1);
        });
        sink.play({});
        bell.ring();
        one.relay->run_until_idle();
    }
    EXPECT_EQ(sent, 1);
    bell.ring();
    one.relay->run_until_idle();
    EXPECT_EQ(parked(), 0) << "nobody was before it any more";
    EXPECT_EQ(sink.taken().size(), 2U);
    expect_order(sink);
}

TEST_P(RelayRedrive, ASkippedEventIsSentLate) {
    ScriptedSink sink([](const Message& message) { return message.position == 1 ? refuse : take; });
    Process one = process(sink, at_once());
    append({1, 1}, "skips");
    one.relay->run_until_idle();
    bell.ring();
    one.relay->run_until_idle();
    EXPECT_EQ(sink.taken().size(), 1U);
    sink.play({});
    EXPECT_EQ(redrive(1, "skips"), 1);
    bell.ring();
    one.relay->run_until_idle();
    EXPECT_EQ(sink.taken().size(), 2U);
    EXPECT_EQ(sink.taken()[1].position, 1);
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayRedrive, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
