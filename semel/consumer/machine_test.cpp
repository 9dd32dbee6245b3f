#include "semel/consumer/machine.hpp"
#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

using namespace std::chrono_literals;
using namespace consumer_action;
using End = Attempted::End;

class ConsumerMachineTest : public ::testing::Test {
protected:
    static ConsumerRules rules() {
        ConsumerRules rules;
        rules.workers = 3;
        rules.held_max = 8;
        rules.attempts_max = 3;
        rules.backoff = {.base = 100ms, .cap = 1s, .throttled_base = 100ms, .jitter = Jitter::none};
        return rules;
    }
    void deliver(DeliveryTag tag, const std::string& key = {}, bool redelivered = false) {
        machine.received(
            {{.tag = tag, .redelivered = redelivered, .message = {.id = std::to_string(tag), .key = key}}});
    }
    template <class Action>
    Action expect() {
        const ConsumerAction action = machine.next(now);
        EXPECT_TRUE(std::holds_alternative<Action>(action)) << "another action: " << action.index();
        return std::holds_alternative<Action>(action) ? std::get<Action>(action) : Action{};
    }
    static Error error_of(Fault fault, std::string message) {
        Error error;
        error.fault = fault;
        error.message = std::move(message);
        return error;
    }
    void done(DeliveryTag tag) { machine.worked(tag, {}, now); }
    void fails(DeliveryTag tag, Fault fault, std::int32_t attempts = 0) {
        machine.worked(tag, {.end = End::failed, .attempts = attempts, .error = error_of(fault, "no")}, now);
    }
    void finish_one() {
        const auto one = expect<Handle>();
        done(one.tag);
        EXPECT_EQ(expect<Acknowledge>().tags, std::vector{one.tag});
    }

    SeededRandom random{1};
    Instant now{1h};
    ConsumerMachine machine{rules(), random};
};

TEST_F(ConsumerMachineTest, AcknowledgesNothingBeforeItIsDone) {
    deliver(1);
    EXPECT_EQ(expect<Handle>().tag, 1U);
    expect<Receive>();
    done(1);
    EXPECT_EQ(expect<Acknowledge>().tags, std::vector<DeliveryTag>{1});
    EXPECT_EQ(machine.held(), 0U);
}

TEST_F(ConsumerMachineTest, HandlesMessagesOfOneKeyOneAfterTheOther) {
    deliver(1, "a");
    deliver(2, "a");
    deliver(3, "b");
    EXPECT_EQ(expect<Handle>().tag, 1U);
    EXPECT_EQ(expect<Handle>().tag, 3U);
    expect<Receive>();
    done(1);
    expect<Acknowledge>();
    EXPECT_EQ(expect<Handle>().tag, 2U);
}

TEST_F(ConsumerMachineTest, HoldsBackTheKeyOfAMessageThatFailed) {
    deliver(1, "a");
    deliver(2, "a");
    deliver(3, "b");
    EXPECT_EQ(expect<Handle>().tag, 1U);
    fails(1, Fault::rejected);
    EXPECT_EQ(expect<Handle>().tag, 3U);
    EXPECT_EQ(expect<Receive>().until, now + 100ms);
    now += 100ms;
    const auto again = expect<Handle>();
    EXPECT_EQ(again.tag, 1U);
    EXPECT_EQ(again.attempt, 2);
    EXPECT_TRUE(again.count) << "from the second attempt on it is counted before it begins";
}

TEST_F(ConsumerMachineTest, ParksAfterTheLastAttemptAndGoesOnWithTheKey) {
    deliver(1, "a");
    deliver(2, "a");
    for (int attempt = 1; attempt <= 3; ++attempt) {
        EXPECT_EQ(expect<Handle>().attempt, attempt);
        fails(1, Fault::broken);
        if (attempt < 3) now += 1s;
    }
    const auto park = expect<Park>();
    EXPECT_EQ(park.tag, 1U);
    EXPECT_EQ(park.attempts, 3);
    EXPECT_EQ(park.reason, "no");
    expect<Receive>();
    done(1);
    expect<Acknowledge>();
    EXPECT_EQ(expect<Handle>().tag, 2U);
}

TEST_F(ConsumerMachineTest, ParksWhatWasBegunTooOften) {
    deliver(1, "", true);
    EXPECT_TRUE(expect<Handle>().count) << "someone may have begun with it";
    machine.worked(1, {.end = End::exhausted, .attempts = 3, .error = error_of(Fault::broken, "begun")}, now);
    EXPECT_EQ(expect<Park>().attempts, 3);
    // What cannot be parked is neither acknowledged nor handled again.
    fails(1, Fault::unavailable);
    expect<Pause>();
    expect<Receive>();
    now += 1s;
    EXPECT_EQ(expect<Park>().tag, 1U);
}

TEST_F(ConsumerMachineTest, TakesTheDatabasesWordForTheNumberOfAttempts) {
    deliver(1, "", true);
    expect<Handle>();
    fails(1, Fault::rejected, 3);
    expect<Park>();
}

TEST_F(ConsumerMachineTest, HandlesOneAtATimeOfThoseDeliveredBefore) {
    deliver(1, "", true);
    deliver(2, "", true);
    deliver(3);
    EXPECT_EQ(expect<Handle>().tag, 1U);
    EXPECT_EQ(expect<Handle>().tag, 3U);
    expect<Receive>();
    done(1);
    expect<Acknowledge>();
    EXPECT_EQ(expect<Handle>().tag, 2U);
}

TEST_F(ConsumerMachineTest, PausesWhileTheDatabaseIsAwayAndProbesWithOneMessage) {
    for (DeliveryTag tag = 1; tag <= 5; ++tag) deliver(tag);
    for (int n = 0; n < 3; ++n) expect<Handle>();
    for (DeliveryTag tag = 1; tag <= 3; ++tag) fails(tag, Fault::unavailable);
    expect<Pause>();
    const auto wait = expect<Receive>();
    EXPECT_EQ(wait.limit, 0U);
    EXPECT_EQ(wait.until, now + 100ms);
    for (int n = 0; n < 20; ++n) {
        now += 1s;
        const auto probe = expect<Handle>();
        EXPECT_EQ(expect<Receive>().limit, 0U) << "one at a time, and nothing new";
        fails(probe.tag, Fault::unavailable);
        expect<Receive>();
    }
    now += 1s;
    const auto probe = expect<Handle>();
    EXPECT_EQ(probe.attempt, 1) << "that the database is away is nobody's attempt";
    done(probe.tag);
    expect<Acknowledge>();
    expect<Resume>();
    for (int n = 0; n < 3; ++n) expect<Handle>();
}

TEST_F(ConsumerMachineTest, WaitsAsLongAsADependencyAsks) {
    deliver(1);
    expect<Handle>();
    Error busy;
    busy.fault = Fault::throttled;
    busy.cause.retry_after = 700ms;
    machine.worked(1, {.end = End::failed, .error = busy}, now);
    expect<Pause>();
    now += 699ms;
    expect<Receive>();
    now += 1ms;
    expect<Handle>();
}

TEST_F(ConsumerMachineTest, HoldsNoMoreThanItMayAndPausesUntilHalfIsDone) {
    for (DeliveryTag tag = 1; tag <= 8; ++tag) deliver(tag);
    expect<Pause>();
    for (int n = 0; n < 3; ++n) finish_one();
    const auto one = expect<Handle>();
    done(one.tag);
    expect<Acknowledge>();
    expect<Resume>();
    finish_one();
    for (int n = 0; n < 3; ++n) expect<Handle>();
    EXPECT_EQ(expect<Receive>().limit, 5U);
}

TEST_F(ConsumerMachineTest, DoesNotAskASourceThatFailedJustNow) {
    machine.receive_failed(now);
    const auto wait = expect<Receive>();
    EXPECT_TRUE(wait.source_away);
    EXPECT_EQ(wait.until, now + 100ms);
    now += 100ms;
    EXPECT_FALSE(expect<Receive>().source_away);
}

TEST_F(ConsumerMachineTest, GivesBackWhatWasNotBegunWhenItDrains) {
    deliver(1, "a");
    deliver(2, "a");
    deliver(3, "b");
    EXPECT_EQ(expect<Handle>().tag, 1U);
    machine.drain();
    EXPECT_EQ(expect<GiveBack>().tags, (std::vector<DeliveryTag>{2, 3}));
    EXPECT_EQ(expect<Receive>().limit, 0U) << "one is still being handled";
    done(1);
    EXPECT_EQ(expect<Acknowledge>().tags, std::vector<DeliveryTag>{1});
    expect<Finished>();
}

}  // namespace
}  // namespace semel
