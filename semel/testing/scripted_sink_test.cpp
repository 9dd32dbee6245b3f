#include "semel/testing/scripted_sink.hpp"

#include <gtest/gtest.h>

namespace semel::testing {
namespace {

using enum ScriptedSink::Answer;

Message message(std::uint8_t number, std::string aggregate) {
    Message one;
    one.id.bytes[15] = std::byte(number);
    one.aggregate = {.type = "order", .id = std::move(aggregate)};
    one.position = number;
    return one;
}

std::vector<std::int64_t> positions(const std::vector<Message>& messages) {
    std::vector<std::int64_t> all;
    for (const Message& one : messages) all.push_back(one.position);
    return all;
}

using Positions = std::vector<std::int64_t>;

TEST(ScriptedSink, TakesEverythingUnlessTold) {
    ScriptedSink sink;
    const std::vector<Message> sent{message(1, "a"), message(2, "b")};
    for (const Status& answer : sink.publish(sent, {})) EXPECT_TRUE(answer);
    EXPECT_EQ(positions(sink.taken()), (Positions{1, 2}));
    EXPECT_EQ(sink.publishes(), 1U);
}

TEST(ScriptedSink, TakesNothingOfAnAggregateBehindWhatItDidNotAcknowledge) {
    for (const auto answer : {lose_answer, lose, refuse, away, throttle}) {
        ScriptedSink sink([&](const Message& one) { return one.position == 1 ? answer : take; });
        const std::vector<Message> sent{message(1, "a"), message(2, "b"), message(3, "a")};
        const auto answers = sink.publish(sent, {});
        EXPECT_FALSE(answers[0]);
        EXPECT_TRUE(answers[1]);
        ASSERT_FALSE(answers[2]);
        EXPECT_EQ(answers[2].error().message, behind_unacknowledged().message);
        EXPECT_EQ(positions(sink.taken()), (answer == lose_answer ? Positions{1, 2} : Positions{2}));
    }
}

TEST(ScriptedSink, TellsFirstDeliveriesFromRepeats) {
    ScriptedSink sink([](const Message& one) { return one.position == 2 ? duplicate : take; });
    const std::vector<Message> sent{message(1, "a"), message(2, "b")};
    std::ignore = sink.publish(sent, {});
    std::ignore = sink.publish(sent, {});
    EXPECT_EQ(positions(sink.taken()), (Positions{1, 2, 2, 1, 2, 2}));
    EXPECT_EQ(positions(sink.first_taken()), (Positions{1, 2}));
}

}  // namespace
}  // namespace semel::testing
