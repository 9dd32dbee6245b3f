#include "semel/sink/lanes.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

std::vector<Message> batch(const std::string& aggregates) {
    std::vector<Message> messages;
    for (const char id : aggregates) {
        Message one;
        one.aggregate = {.type = "order", .id = std::string(1, id)};
        messages.push_back(one);
    }
    return messages;
}

Error away() {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "away";
    return error;
}

TEST(WebhookLanes, SendAggregatesSideBySideAndEachInItsOrder) {
    const auto messages = batch("aabab");
    Lanes lanes(messages);
    EXPECT_EQ(lanes.next(), 0U);
    EXPECT_EQ(lanes.next(), 2U);
    EXPECT_EQ(lanes.next(), std::nullopt) << "both aggregates wait for their first";
    lanes.answered(2, {});
    EXPECT_EQ(lanes.next(), 4U);
    lanes.answered(0, {});
    EXPECT_EQ(lanes.next(), 1U);
    lanes.answered(1, {});
    lanes.answered(4, {});
    EXPECT_FALSE(lanes.finished());
    EXPECT_EQ(lanes.next(), 3U);
    lanes.answered(3, {});
    EXPECT_TRUE(lanes.finished());
    for (const Status& one : std::move(lanes).take()) EXPECT_TRUE(one);
}

TEST(WebhookLanes, SendNothingBehindWhatWasNotAcknowledged) {
    const auto messages = batch("aaab");
    Lanes lanes(messages);
    EXPECT_EQ(lanes.next(), 0U);
    lanes.answered(0, fail(Fault::rejected, "no"));
    EXPECT_EQ(lanes.next(), 3U);
    lanes.answered(3, {});
    EXPECT_TRUE(lanes.finished());
    const auto answers = std::move(lanes).take();
    EXPECT_EQ(answers[0].error().fault, Fault::rejected);
    EXPECT_EQ(answers[1].error().fault, Fault::unavailable);
    EXPECT_EQ(answers[2].error().fault, Fault::unavailable);
    EXPECT_TRUE(answers[3]);
}

TEST(WebhookLanes, BeginNothingOnceClosedButKeepWhatWasAcknowledged) {
    const auto messages = batch("aabbc");
    Lanes lanes(messages);
    EXPECT_EQ(lanes.next(), 0U);
    lanes.close(away());
    EXPECT_EQ(lanes.next(), std::nullopt);
    EXPECT_FALSE(lanes.finished()) << "one is still under way";
    lanes.answered(0, {});
    EXPECT_TRUE(lanes.finished());
    const auto answers = std::move(lanes).take();
    EXPECT_TRUE(answers[0]);
    EXPECT_EQ(answers[1].error().message, "away");
    EXPECT_EQ(answers[2].error().message, "away");
    EXPECT_NE(answers[3].error().message, "away") << "it stands behind another";
    EXPECT_EQ(answers[4].error().message, "away");
}

TEST(WebhookLanes, TakeTheSameIdOfAnotherTenantForAnotherAggregate) {
    auto messages = batch("aa");
    messages[1].tenant = "other";
    Lanes lanes(messages);
    EXPECT_EQ(lanes.next(), 0U);
    EXPECT_EQ(lanes.next(), 1U);
}

TEST(WebhookLanes, AreFinishedWhenThereIsNothing) { EXPECT_TRUE(Lanes({}).finished()); }

}  // namespace
}  // namespace semel
