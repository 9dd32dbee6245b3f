// What cannot be handled is parked, whole and with its reason, and holds up only its own key until then.

#include "tests/consuming/fixture.hpp"

#include <atomic>
#include <stdexcept>

namespace semel::consuming {
namespace {

using conformance::Target;

class ConsumerPoison : public ConsumerTest {
protected:
    std::atomic<bool> poisonous = true;
    std::atomic<int> calls = 0;
    ConsumerHandler refuses_bad = [this](ConsumerWork& work) -> Status {
        if (work.message.id != "bad" || !poisonous) return note_effect(work);
        ++calls;
        SEMEL_TRY(note_effect(work));
        return fail(Fault::rejected, "there is no such order");
    };
};

TEST_P(ConsumerPoison, IsParkedWholeAfterItsAttemptsAndLeavesNothingBehind) {
    const auto one = consumer(source, quick_options(), refuses_bad);
    const ReceivedMessage bad = message("bad", "a", R"({"x":[1,2]})");
    source.send(bad);
    source.send(message("next", "a"));
    source.send(message("other", "b"));
    work_off(*one, source);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(effects(), (Effects{{"other", "b"}, {"next", "a"}})) << "its key waited for it, others did not";
    const auto parked = one->parked().list(10, soon()).value();
    ASSERT_EQ(parked.size(), 1U);
    EXPECT_EQ(parked[0].message, bad);
    EXPECT_EQ(parked[0].attempts, 3);
    EXPECT_NE(parked[0].reason.find("there is no such order"), std::string::npos);
    EXPECT_EQ(attempt_rows(), 0);
    EXPECT_EQ(one->report().parked, 1U);
}

TEST_P(ConsumerPoison, AnExceptionIsOne) {
    const auto one = consumer(source, quick_options(), [](ConsumerWork& work) -> Status {
        SEMEL_TRY(note_effect(work));
        throw std::runtime_error("not a number");
    });
    source.send(message("bad"));
    work_off(*one, source);
    EXPECT_TRUE(effects().empty());
    const auto parked = one->parked().list(10, soon()).value();
    ASSERT_EQ(parked.size(), 1U);
    EXPECT_NE(parked[0].reason.find("not a number"), std::string::npos) << parked[0].reason;
}

TEST_P(ConsumerPoison, AMessageWithoutAUsableIdIsParkedOnceHoweverOftenItComes) {
    const auto one = consumer(source);
    for (int n = 0; n < 2; ++n) {
        source.send(message("", "", "nameless"));
        source.send(message(std::string(5000, 'x'), "", "nameless"));
    }
    work_off(*one, source);
    EXPECT_TRUE(effects().empty());
    const auto parked = one->parked().list(10, soon()).value();
    ASSERT_EQ(parked.size(), 2U) << "two different ones";
    for (const ParkedMessage& each : parked) EXPECT_EQ(each.message.payload, "nameless");
}

TEST_P(ConsumerPoison, AMessageThatNoDatabaseCouldHoldIsParkedAllTheSame) {
    const auto one = consumer(source, quick_options(),
                              [](ConsumerWork&) -> Status { throw std::runtime_error(std::string("caf\xe9\0", 5)); });
    ReceivedMessage odd = message("odd", "key", std::string("\0\xff", 2));
    odd.type = "\xff";
    source.send(odd);
    source.send(message("thrown"));
    work_off(*one, source);
    const auto parked = one->parked().list(10, soon()).value();
    ASSERT_EQ(parked.size(), 2U);
    const auto& first = parked[0].message.id == "odd" ? parked[0] : parked[1];
    EXPECT_EQ(first.message.type, "hex:ff");
    EXPECT_EQ(first.message.payload, odd.payload);
}

TEST_P(ConsumerPoison, IsRedrivenOnceAndNotTwice) {
    const auto one = consumer(source, quick_options(), refuses_bad);
    source.send(message("bad", "a"));
    work_off(*one, source);
    // Still poisonous: it stays, and the reason is the new one.
    EXPECT_FALSE(one->redrive("bad", soon()));
    EXPECT_EQ(one->parked().list(10, soon()).value().at(0).attempts, 4);
    poisonous = false;
    EXPECT_EQ(one->redrive("bad", soon()).value(), InboxVerdict::fresh);
    EXPECT_TRUE(one->parked().list(10, soon()).value().empty());
    expect_each_once(1);
    const auto again = one->redrive("bad", soon());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().fault, Fault::rejected);
    expect_each_once(1);
}

TEST_P(ConsumerPoison, ThatWasProcessedAfterAllIsADuplicateWhenItIsRedriven) {
    const auto one = consumer(source, quick_options(), refuses_bad);
    source.send(message("bad"));
    work_off(*one, source);
    poisonous = false;
    source.send(message("bad"));  // Someone sent it again, as new.
    work_off(*one, source);
    expect_each_once(1);
    EXPECT_EQ(one->redrive("bad", soon()).value(), InboxVerdict::duplicate);
    EXPECT_TRUE(one->parked().list(10, soon()).value().empty());
    expect_each_once(1);
}

TEST_P(ConsumerPoison, WhoseAcknowledgementGotLostIsNotTriedAgain) {
    const auto one = consumer(source, quick_options(), refuses_bad);
    source.play({.lose_acknowledgement = 100});
    source.send(message("bad"));
    EXPECT_TRUE(eventually([&] {
        one->run_until_idle();
        return one->report().parked == 1;
    }));
    one->run_until_idle();
    source.play({});
    source.disconnect();
    work_off(*one, source);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(one->parked().list(10, soon()).value().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Databases, ConsumerPoison, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::consuming
