// What a real broker does with batches: it takes or refuses each as a whole, and order hangs on that.

#include "semel/kafka/sink.hpp"
#include "tests/kafka/cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace semel::kafka {
namespace {

using namespace std::chrono_literals;

class KafkaSinkOrder : public ::testing::Test {
protected:
    void SetUp() override {
        const auto shared = RealCluster::shared();
        if (!shared) GTEST_SKIP() << shared.error().describe();
        cluster = *shared;
    }
    [[nodiscard]] std::unique_ptr<KafkaSink> open(const std::string& topic) const {
        KafkaSinkOptions options;
        options.connection.brokers = cluster->direct();
        options.topic = topic;
        return KafkaSink::open(options).value();
    }
    static Message event(const std::string& aggregate, std::size_t size = 2) {
        Message one;
        one.id = new_uuid();
        one.aggregate = {.type = "order", .id = aggregate};
        one.type = "order.changed";
        one.payload = "\"" + std::string(size, 'x') + "\"";
        one.headers = "{}";
        return one;
    }
    static std::vector<Status> publish(Sink& sink, const std::vector<Message>& batch) {
        return sink.publish(batch, Deadline::after(system_clock().now(), 20s));
    }
    [[nodiscard]] std::set<std::string> keys(const std::string& topic) const {
        std::set<std::string> all;
        const auto there = read_topic(cluster->direct(), topic);
        EXPECT_TRUE(there) << there.error().describe();
        for (const Stored& one : *there) all.insert(one.key);
        return all;
    }
    RealCluster* cluster = nullptr;
};

TEST_F(KafkaSinkOrder, NothingPassesAnEventThatTheBrokerRefuses) {
    // A broker that knows nothing of a producer yet takes whatever batch comes first: with each new sink all partitions but
    // one are such. If the event were in one batch and those behind it in another, they would be in the log.
    const std::string topic = cluster->fresh_topic(8, "max.message.bytes=20000").value();
    for (int round = 0; round < 5; ++round) {
        const auto sink = open(topic);
        ASSERT_TRUE(publish(*sink, {event("first")})[0]);
        for (int n = 0; n < 3; ++n) {
            const std::string aggregate = "refused-" + std::to_string(round) + "-" + std::to_string(n);
            std::vector<Message> batch{event(aggregate, 30'000)};
            for (int behind = 0; behind < 200; ++behind) batch.push_back(event(aggregate));
            const auto answers = publish(*sink, batch);
            ASSERT_FALSE(answers[0]);
            EXPECT_EQ(answers[0].error().fault, Fault::rejected) << answers[0].error().describe();
            for (std::size_t behind = 1; behind < answers.size(); ++behind)
                ASSERT_EQ(answers[behind].error().message, behind_unacknowledged().message);
        }
    }
    EXPECT_EQ(keys(topic).size(), 1U) << "something overtook";
}

TEST_F(KafkaSinkOrder, NothingPassesARefusedEventByWayOfASecondBatch) {
    // Together they are more than a batch can be; the last of them would be one that the broker takes.
    const std::string topic = cluster->fresh_topic(8, "max.message.bytes=300000").value();
    const auto sink = open(topic);
    ASSERT_TRUE(publish(*sink, {event("first")})[0]);
    for (int round = 0; round < 5; ++round) {
        const std::string aggregate = "refused-" + std::to_string(round);
        std::vector<Message> batch{event(aggregate, 400'000)};
        for (int behind = 0; behind < 16; ++behind) batch.push_back(event(aggregate, 50'000));
        const auto answers = publish(*sink, batch);
        ASSERT_FALSE(answers[0]);
        EXPECT_EQ(answers[0].error().fault, Fault::rejected) << answers[0].error().describe();
        EXPECT_EQ(answers[16].error().message, behind_unacknowledged().message);
    }
    EXPECT_EQ(keys(topic).size(), 1U) << "something overtook";
}

TEST_F(KafkaSinkOrder, WhatIsTooMuchForOneBatchIsSentInSeveral) {
    const std::string topic = cluster->fresh_topic(1).value();
    const auto sink = open(topic);
    std::vector<Message> batch;
    for (int n = 0; n < 40; ++n) batch.push_back(event("a", 100'000));
    for (const Status& answer : publish(*sink, batch)) EXPECT_TRUE(answer) << answer.error().describe();
    const auto there = read_topic(cluster->direct(), topic).value();
    ASSERT_EQ(there.size(), batch.size());
    for (std::size_t n = 0; n < batch.size(); ++n) {
        const auto& headers = there[n].headers;
        EXPECT_TRUE(std::ranges::find(headers, std::pair<std::string, std::string>("ce_id", batch[n].id.text())) !=
                    headers.end())
            << n << " is not in its place";
    }
}

TEST_F(KafkaSinkOrder, EventsThatFitAloneButNotTogetherAllArrive) {
    const std::string topic = cluster->fresh_topic(1, "max.message.bytes=5000").value();
    const auto sink = open(topic);
    std::vector<Message> batch;
    for (int n = 0; n < 12; ++n) batch.push_back(event(n % 2 == 0 ? "a" : "b", 2'000));
    for (const Status& answer : publish(*sink, batch)) EXPECT_TRUE(answer) << answer.error().describe();
    EXPECT_EQ(read_topic(cluster->direct(), topic)->size(), batch.size()) << "each once";
}

}  // namespace
}  // namespace semel::kafka
