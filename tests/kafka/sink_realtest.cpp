// What the sink does when brokers refuse, delay, lose or doubt: by answers that librdkafka's mock is told to give.

#include "semel/kafka/sink.hpp"

#include "semel/base/random.hpp"
#include "tests/kafka/cluster.hpp"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <map>
#include <set>
#include <thread>

namespace semel::kafka {
namespace {

using namespace std::chrono_literals;

class KafkaSinkFaults : public ::testing::Test {
protected:
    void SetUp() override {
        topic = mock.fresh_topic(1).value();
        open();
        // The first message costs a second with the mock, until the producer has its id.
        ASSERT_TRUE(publish({event("first")})[0]);
    }

    void open(std::size_t max_in_flight = 256) {
        KafkaSinkOptions options;
        options.connection.brokers = mock.brokers();
        options.topic = topic;
        options.max_in_flight = max_in_flight;
        options.topic_limit = 1s;
        sink = KafkaSink::open(options).value();
    }
    [[nodiscard]] Message event(const std::string& aggregate) {
        Message one;
        one.id = new_uuid();
        one.aggregate = {.type = "order", .id = aggregate};
        one.type = "order.changed";
        one.payload = std::to_string(++numbers);
        one.headers = "{}";
        return one;
    }
    [[nodiscard]] std::vector<Message> events(const std::vector<std::string>& aggregates) {
        std::vector<Message> all;
        for (const std::string& one : aggregates) all.push_back(event(one));
        return all;
    }
    [[nodiscard]] std::vector<Status> publish(const std::vector<Message>& messages, Duration limit = 10s) {
        return sink->publish(messages, Deadline::after(system_clock().now(), limit));
    }
    /// The payloads in the topic, in their order, without the first one.
    [[nodiscard]] std::vector<std::string> stored() {
        std::vector<std::string> all;
        const auto there = read_topic(mock.brokers(), topic);
        EXPECT_TRUE(there) << there.error().describe();
        for (const Stored& one : *there)
            if (one.offset > 0) all.push_back(one.value);
        return all;
    }
    [[nodiscard]] static bool held_back(const Status& answer) {
        return !answer && answer.error().message == behind_unacknowledged().message;
    }

    MockCluster mock;
    std::string topic;
    std::unique_ptr<KafkaSink> sink;
    int numbers = 0;
};

TEST_F(KafkaSinkFaults, SendsAgainAloneWhatWasRefusedInCompany) {
    const auto batch = events({"a", "b", "a", "c", "a"});
    mock.answer_produce({RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
    for (const Status& answer : publish(batch)) EXPECT_TRUE(answer) << answer.error().describe();
    auto got = stored();
    EXPECT_EQ(got.size(), 5U) << "each once";
    std::erase_if(got, [&](const std::string& one) { return one == batch[1].payload || one == batch[3].payload; });
    EXPECT_EQ(got, (std::vector{batch[0].payload, batch[2].payload, batch[4].payload}));
}

TEST_F(KafkaSinkFaults, LetsNothingPassWhatIsRefusedForGood) {
    const auto batch = events({"a", "a", "b", "a", "b"});
    mock.answer_produce(std::vector<int>(100, RD_KAFKA_RESP_ERR_INVALID_RECORD));
    const auto answers = publish(batch);
    ::rd_kafka_mock_clear_request_errors(mock.get(), 0);
    for (const std::size_t head : {0U, 2U}) {
        ASSERT_FALSE(answers[head]);
        EXPECT_EQ(answers[head].error().fault, Fault::rejected) << answers[head].error().describe();
        EXPECT_EQ(answers[head].error().cause.code, "INVALID_RECORD");
    }
    for (const std::size_t behind : {1U, 3U, 4U}) EXPECT_TRUE(held_back(answers[behind]));
    EXPECT_TRUE(stored().empty());
    EXPECT_TRUE(publish({event("a")})[0]) << "the sink goes on";
}

TEST_F(KafkaSinkFaults, BlamesEveryMessageForATopicThatMayNotBeUsed) {
    const auto batch = events({"a", "a"});
    mock.answer_produce({RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
    const auto answers = publish(batch);
    ASSERT_FALSE(answers[0]);
    EXPECT_EQ(answers[0].error().fault, Fault::rejected);
    EXPECT_TRUE(held_back(answers[1])) << "librdkafka, left to itself, would have sent it";
    EXPECT_TRUE(stored().empty());
}

TEST_F(KafkaSinkFaults, OutlastsWhatPassesByItself) {
    const auto batch = events({"a", "a", "b", "a"});
    mock.answer_produce({RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
                         RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT});
    for (const Status& answer : publish(batch)) EXPECT_TRUE(answer) << answer.error().describe();
    EXPECT_EQ(stored().size(), 4U) << "each once";
}

TEST_F(KafkaSinkFaults, DoesNotKnowWhatBecameOfAnAnswerThatCameTooLateAndSendsNothingBehindTheCallersBack) {
    open(2);
    ASSERT_TRUE(publish({event("b")})[0]);
    const auto batch = events({"a", "a", "a"});
    mock.answer_produce_late(RD_KAFKA_RESP_ERR_NO_ERROR, 1500ms);
    const Instant begun = system_clock().now();
    const auto answers = publish(batch, 400ms);
    EXPECT_LT(system_clock().now() - begun, 1s);
    ASSERT_FALSE(answers[0]);
    EXPECT_EQ(answers[0].error().fault, Fault::unknown) << answers[0].error().describe();
    EXPECT_TRUE(held_back(answers[1]));
    EXPECT_TRUE(held_back(answers[2]));
    std::this_thread::sleep_for(1500ms);
    for (const std::string& one : stored()) EXPECT_NE(one, batch[2].payload) << "it was not begun";
    for (const Status& answer : publish(batch)) EXPECT_TRUE(answer) << answer.error().describe();
}

TEST_F(KafkaSinkFaults, SendsTheEventsOfAnAggregateTogether) {
    ::rd_kafka_mock_broker_set_rtt(mock.get(), -1, 200);
    const auto batch = events(std::vector<std::string>(40, "a"));
    const Instant begun = system_clock().now();
    for (const Status& answer : publish(batch)) EXPECT_TRUE(answer) << answer.error().describe();
    EXPECT_LT(system_clock().now() - begun, 3s) << "one after the other they would take eight seconds";
    const auto there = stored();
    ASSERT_EQ(there.size(), batch.size());
    for (std::size_t n = 0; n < batch.size(); ++n) EXPECT_EQ(there[n], batch[n].payload);
}

TEST_F(KafkaSinkFaults, NothingPassesARefusedEventByWayOfAnotherTopic) {
    for (const char* type : {"x", "y"}) ASSERT_EQ(::rd_kafka_mock_topic_create(mock.get(), type, 1, 1), 0);
    topic = "{type}";
    open();
    const auto of_type = [&](const std::string& aggregate, const std::string& type) {
        Message one = event(aggregate);
        one.type = type;
        return one;
    };
    for (const char* type : {"x", "y"}) ASSERT_TRUE(publish({of_type("first", type)})[0]);
    for (int n = 0; n < 20; ++n) {
        const std::vector batch{of_type(std::to_string(n), "x"), of_type(std::to_string(n), "y")};
        mock.answer_produce({RD_KAFKA_RESP_ERR_INVALID_RECORD});
        const auto answers = publish(batch);
        ASSERT_FALSE(answers[0]);
        EXPECT_EQ(answers[0].error().fault, Fault::rejected) << answers[0].error().describe();
        EXPECT_TRUE(held_back(answers[1]));
    }
    EXPECT_EQ(read_topic(mock.brokers(), "y")->size(), 1U) << "only what was sent at first";
}

TEST_F(KafkaSinkFaults, SaysThatNothingWasDoneWhileNobodyCanBeReached) {
    mock.be_away(true);
    const auto batch = events({"a", "a", "b"});
    const auto answers = publish(batch, 500ms);
    for (const std::size_t head : {0U, 2U}) {
        ASSERT_FALSE(answers[head]);
        EXPECT_EQ(answers[head].error().fault, Fault::unavailable) << answers[head].error().describe();
    }
    EXPECT_TRUE(held_back(answers[1]));
    mock.be_away(false);
    for (const Status& answer : publish(batch)) EXPECT_TRUE(answer) << answer.error().describe();
    EXPECT_EQ(stored().size(), 3U) << "what was given up was not sent later";
}

TEST_F(KafkaSinkFaults, TakesAnotherProducerWhenOneHasStoppedForGood) {
    mock.answer_produce({RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER});
    const auto batch = events({"a", "a"});
    const auto answers = publish(batch, 3s);
    ASSERT_FALSE(answers[0]) << "it was expected to stop the producer";
    EXPECT_TRUE(answers[0].error().fault == Fault::unavailable || answers[0].error().fault == Fault::unknown)
        << answers[0].error().describe();
    EXPECT_TRUE(held_back(answers[1]));
    for (const Status& answer : publish(batch)) EXPECT_TRUE(answer) << answer.error().describe();
}

TEST_F(KafkaSinkFaults, RefusesATopicThatDoesNotExistUntilItDoes) {
    topic = "nobody-made-it";
    ::rd_kafka_mock_topic_set_error(mock.get(), topic.c_str(), RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    open();
    const auto batch = events({"a", "a"});
    const Instant begun = system_clock().now();
    const auto answers = publish(batch);
    EXPECT_LT(system_clock().now() - begun, 8s) << "it should not take the whole deadline";
    ASSERT_FALSE(answers[0]);
    EXPECT_EQ(answers[0].error().fault, Fault::rejected) << answers[0].error().describe();
    EXPECT_TRUE(held_back(answers[1]));
    ::rd_kafka_mock_topic_set_error(mock.get(), topic.c_str(), RD_KAFKA_RESP_ERR_NO_ERROR);
    for (const Status& answer : publish(batch)) EXPECT_TRUE(answer) << answer.error().describe();
}

/// Publishes as a relay would, while the broker answers at random.
TEST_F(KafkaSinkFaults, WhateverTheBrokerAnswersTheFirstCopiesOfAnAggregateAreInOrder) {
    SeededRandom random(20);
    std::vector<Message> left;
    std::map<std::string, std::string> aggregate_of;
    for (int n = 0; n < 400; ++n) {
        left.push_back(event(std::to_string(random.below(12))));
        aggregate_of[left.back().payload] = left.back().aggregate.id;
    }
    const std::size_t sent = left.size();
    constexpr std::array codes{RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
                               RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                               RD_KAFKA_RESP_ERR__TRANSPORT,
                               RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
                               RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
                               RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,
                               RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
                               RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR};
    std::map<Fault, int> faults;
    std::set<std::string> acknowledged;
    int rounds = 0;
    for (; !left.empty() && rounds < 60; ++rounds) {
        std::vector<int> answers;
        for (int n = 0; n < 3; ++n)
            answers.push_back(random.below(3) == 0 ? static_cast<int>(codes[random.below(codes.size())]) : 0);
        if (rounds % 4 == 3) mock.answer_produce_late(0, 600ms);
        for (const int answer : answers) mock.answer_produce_late(answer, 0ms);
        const std::vector<Message> batch(
            left.begin(), left.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(60, left.size())));
        const auto results = publish(batch, rounds % 4 == 3 ? 300ms : 5s);
        std::vector<Message> again;
        for (std::size_t n = 0; n < batch.size(); ++n) {
            if (results[n]) {
                acknowledged.insert(batch[n].payload);
                continue;
            }
            again.push_back(batch[n]);
            if (!held_back(results[n])) ++faults[results[n].error().fault];
        }
        again.insert(again.end(), left.begin() + static_cast<std::ptrdiff_t>(batch.size()), left.end());
        left = std::move(again);
    }
    EXPECT_TRUE(left.empty()) << left.size() << " were never taken";
    std::set<std::string> seen;
    std::map<std::string, int> newest;
    const auto all = stored();
    for (const std::string& payload : all) {
        if (!seen.insert(payload).second) continue;
        EXPECT_GT(std::stoi(payload), newest[aggregate_of[payload]]) << "out of order";
        newest[aggregate_of[payload]] = std::stoi(payload);
    }
    EXPECT_EQ(seen.size(), sent);
    for (const std::string& payload : acknowledged)
        EXPECT_TRUE(seen.contains(payload)) << payload << " was acknowledged and is not there";
    std::printf("%zu events, %d publishes, %zu stored;", sent, rounds, all.size());
    for (const auto& [fault, count] : faults) std::printf(" %s %d", std::string(name(fault)).c_str(), count);
    std::printf("\n");
}

}  // namespace
}  // namespace semel::kafka
