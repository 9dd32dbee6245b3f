// A broker that is away for a moment: what is produced right after it comes, though the client complains at the same time.

#include "semel/kafka/sink.hpp"
#include "semel/kafka/source.hpp"
#include "tests/kafka/cluster.hpp"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <set>
#include <thread>

namespace semel::kafka {
namespace {

using namespace std::chrono_literals;

TEST(KafkaOutage, LosesNoMessageThatComesTogetherWithAComplaint) {
    MockCluster mock;
    const std::string topic = mock.fresh_topic(1).value();
    KafkaSinkOptions to;
    to.connection.brokers = mock.brokers();
    to.topic = topic;
    const auto sink = KafkaSink::open(to).value();
    KafkaSourceOptions from;
    from.connection.brokers = mock.brokers();
    from.topics = {topic};
    from.group = "outage";
    const auto source = KafkaSource::open(from).value();

    std::set<std::string> sent;
    std::set<std::string> received;
    const auto send = [&] {
        Message one;
        one.id = new_uuid();
        one.aggregate = {.type = "order", .id = "1"};
        one.type = "order.changed";
        one.payload = "{}";
        one.headers = "{}";
        const std::array batch{one};
        while (!sink->publish(batch, Deadline::after(system_clock().now(), 10s)).at(0)) {}
        sent.insert(one.id.text());
    };
    const auto receive = [&](Duration limit) {
        const auto came = source->receive(10, Deadline::after(system_clock().now(), limit));
        if (!came) return;
        std::vector<DeliveryTag> tags;
        for (const Delivery& one : *came) {
            received.insert(one.message.id);
            tags.push_back(one.tag);
        }
        static_cast<void>(source->acknowledge(tags));
    };
    const auto until_all_came = [&] {
        const Instant limit = system_clock().now() + 20s;
        while (received != sent && system_clock().now() < limit) receive(500ms);
    };
    send();
    until_all_came();
    ASSERT_EQ(received, sent);
    for (int round = 0; round < 3; ++round) {
        {
            std::jthread broker([&] {
                std::this_thread::sleep_for(200ms);
                mock.be_away(true);
                std::this_thread::sleep_for(150ms);
                mock.be_away(false);
                send();
            });
            receive(3s);
        }
        send();
        until_all_came();
        ASSERT_EQ(received, sent) << "round " << round;
    }
}

TEST(KafkaOutage, ABrokerThatNoLongerAnswersHoldsNobodyUpWhoLeaves) {
    MockCluster mock;
    const std::string topic = mock.fresh_topic(1).value();
    KafkaSourceOptions from;
    from.connection.brokers = mock.brokers();
    from.topics = {topic};
    from.group = "leaving";
    auto source = KafkaSource::open(from).value();
    for (int n = 0; n < 10; ++n) static_cast<void>(source->receive(10, Deadline::after(system_clock().now(), 500ms)));
    ::rd_kafka_mock_broker_set_rtt(mock.get(), -1, 60'000);
    const Instant begun = system_clock().now();
    source.reset();
    EXPECT_LT(system_clock().now() - begun, 20s);
}

}  // namespace
}  // namespace semel::kafka
