// The reader by which the other tests judge: what was committed but is not shown yet is not taken for lost, and what will
// be undone is not taken for an effect.

#include "semel/kafka/producer.hpp"
#include "tests/kafka/cluster.hpp"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <thread>

namespace semel::kafka {
namespace {

using namespace std::chrono_literals;

constexpr int call_milliseconds = 20'000;

class KafkaTopicReader : public ::testing::Test {
protected:
    void SetUp() override {
        const auto shared = RealCluster::shared();
        if (!shared) GTEST_SKIP() << shared.error().describe();
        real = *shared;
        topic = real->fresh_topic(2).value();
        producer = detail::Producer::create({.brokers = real->direct()}, {.message = 20s, .topic = 2s},
                                            {{"transactional.id", "writer-of-" + topic}})
                       .value();
        expect_done(::rd_kafka_init_transactions(producer->client(), call_milliseconds));
    }
    static void expect_done(rd_kafka_error_t* answer) {
        const ErrorHandle failed(answer);
        EXPECT_FALSE(failed) << ::rd_kafka_error_string(failed.get());
    }
    /// In the log, in a transaction that stays open.
    void write(int count) {
        expect_done(::rd_kafka_begin_transaction(producer->client()));
        for (int n = 0; n < count; ++n) {
            const std::string text = std::to_string(n);
            EXPECT_EQ(producer->send({.topic = topic, .key = text, .value = text}, 0), 0);
        }
        EXPECT_EQ(::rd_kafka_flush(producer->client(), call_milliseconds), RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    void commit() { expect_done(::rd_kafka_commit_transaction(producer->client(), call_milliseconds)); }
    void abort() { expect_done(::rd_kafka_abort_transaction(producer->client(), call_milliseconds)); }
    [[nodiscard]] std::size_t read() const {
        const auto all = read_topic(real->direct(), topic);
        EXPECT_TRUE(all) << all.error().describe();
        return all ? all->size() : 0;
    }

    RealCluster* real = nullptr;
    std::string topic;
    std::unique_ptr<detail::Producer> producer;
};

TEST_F(KafkaTopicReader, WaitsForATransactionThatIsUnderWay) {
    write(10);
    commit();
    write(10);
    std::jthread later([this] {
        std::this_thread::sleep_for(1s);
        commit();
    });
    EXPECT_EQ(read(), 20U);
}

TEST_F(KafkaTopicReader, LeavesOutWhatIsUndone) {
    write(10);
    commit();
    write(10);
    std::jthread later([this] {
        std::this_thread::sleep_for(1s);
        abort();
    });
    EXPECT_EQ(read(), 10U);
}

TEST_F(KafkaTopicReader, MissesNothingThatWasCommittedJustBefore) {
    for (std::size_t n = 1; n <= 20; ++n) {
        write(10);
        commit();
        ASSERT_EQ(read(), n * 10) << "the answer to a commit comes before its effect";
    }
}

}  // namespace
}  // namespace semel::kafka
