// A consumer that has enough for a moment costs nothing: what was fetched ahead is still there when it goes on.

#include "semel/kafka/sink.hpp"
#include "semel/kafka/source.hpp"
#include "tests/kafka/cluster.hpp"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <set>

namespace semel::kafka {
namespace {

using namespace std::chrono_literals;

Deadline pause_deadline(Duration limit) { return Deadline::after(system_clock().now(), limit); }

class KafkaPause : public ::testing::Test {
protected:
    static constexpr std::size_t events = 200;

    void SetUp() override {
        topic = mock.fresh_topic(1).value();
        KafkaSinkOptions to;
        to.connection.brokers = mock.brokers();
        to.topic = topic;
        std::vector<Message> batch;
        for (std::size_t n = 0; n < events; ++n) {
            Message one;
            one.id = new_uuid();
            one.aggregate = {.type = "order", .id = "1"};
            one.type = "order.changed";
            one.payload = "{}";
            one.headers = "{}";
            batch.push_back(one);
        }
        for (const Status& answer : KafkaSink::open(to).value()->publish(batch, pause_deadline(20s)))
            ASSERT_TRUE(answer) << answer.error().describe();
        KafkaSourceOptions from;
        from.connection.brokers = mock.brokers();
        from.topics = {topic};
        from.group = "pause";
        source = KafkaSource::open(from).value();
        take(10);
        ASSERT_EQ(got.size(), 10U);
        // From here on whoever asks the broker waits.
        ::rd_kafka_mock_broker_set_rtt(mock.get(), -1, 300);
    }
    void take(std::size_t count) {
        const Instant limit = system_clock().now() + 20s;
        for (const std::size_t wanted = got.size() + count; got.size() < wanted && system_clock().now() < limit;) {
            const auto some = source->receive(wanted - got.size(), pause_deadline(1s));
            if (!some) continue;
            for (const Delivery& one : *some) EXPECT_TRUE(got.insert(one.message.id).second) << "delivered twice";
        }
    }

    MockCluster mock;
    std::string topic;
    std::unique_ptr<KafkaSource> source;
    std::set<std::string> got;
};

TEST_F(KafkaPause, AShortOneFetchesNothingAgain) {
    const Instant begun = system_clock().now();
    for (int n = 0; n < 15; ++n) {
        source->pause();
        EXPECT_TRUE(source->receive(10, pause_deadline(5ms))->empty());
        source->resume();
        take(10);
    }
    EXPECT_LT(system_clock().now() - begun, 2500ms) << "each time it asked the broker anew";
    EXPECT_EQ(got.size(), 160U);
}

TEST_F(KafkaPause, ALongOneLosesNothing) {
    source->pause();
    const Instant begun = system_clock().now();
    while (system_clock().now() - begun < 1500ms) EXPECT_TRUE(source->receive(10, pause_deadline(100ms))->empty());
    source->resume();
    take(events - 10);
    EXPECT_EQ(got.size(), events);
}

TEST_F(KafkaPause, IsOverAtOnceWhenSomeoneWakesIt) {
    source->pause();
    source->wake();
    const Instant begun = system_clock().now();
    EXPECT_TRUE(source->receive(10, pause_deadline(10s))->empty());
    EXPECT_LT(system_clock().now() - begun, 400ms);
}

}  // namespace
}  // namespace semel::kafka
