// The suite of sinks on a real broker, and on librdkafka's mock.

#include "semel/kafka/sink.hpp"
#include "tests/conformance/sink_suite.hpp"
#include "tests/kafka/cluster.hpp"

namespace semel::conformance {
namespace {

/// What the topic takes; the sink itself would send somewhat more.
constexpr std::size_t topic_bytes_max = 940'000;
constexpr std::size_t sink_bytes_max = 1'000'000;

class KafkaSinkTarget : public SinkTarget {
public:
    Result<std::unique_ptr<Sink>> make_sink(const SinkSettings& settings) override {
        kafka::KafkaSinkOptions options;
        options.connection.brokers = cluster().brokers();
        options.topic = topic_;
        options.event.source = event_source;
        options.mode = settings.structured ? kafka::Mode::structured : kafka::Mode::binary;
        options.max_in_flight = settings.max_in_flight;
        return SEMEL_TRY(kafka::KafkaSink::open(options));
    }
    Result<std::vector<Arrived>> arrived() override {
        std::vector<Arrived> all;
        for (const kafka::Stored& one : SEMEL_TRY(kafka::read_topic(cluster().brokers(), topic_))) {
            const bool structured = one.headers.size() == 1;
            all.push_back(structured ? arrived_structured(one.value) : arrived_binary(one.headers, "ce_", one.value));
        }
        return all;
    }
    [[nodiscard]] std::optional<std::size_t> payload_max() const override { return sink_bytes_max; }
    bool be_away(bool away) override {
        cluster().be_away(away);
        return true;
    }
    bool be_mute(bool mute) override {
        cluster().be_mute(mute);
        return true;
    }

protected:
    [[nodiscard]] virtual kafka::Cluster& cluster() = 0;
    std::string topic_;
};

class RealSinkTarget final : public KafkaSinkTarget {
public:
    Status prepare() override {
        real_ = SEMEL_TRY(kafka::RealCluster::shared());
        topic_ = SEMEL_TRY(real_->fresh_topic(4, "max.message.bytes=" + std::to_string(topic_bytes_max)));
        return {};
    }
    /// The broker refuses it, and whatever is sent together with it.
    bool poison(Message& message) override {
        message.payload = "\"" + std::string(topic_bytes_max + 10'000, 'x') + "\"";
        return true;
    }
    std::optional<Status> crash_and_restart() override { return real_->crash_and_restart(); }

private:
    kafka::Cluster& cluster() override { return *real_; }
    kafka::RealCluster* real_ = nullptr;
};

class MockSinkTarget final : public KafkaSinkTarget {
public:
    Status prepare() override {
        topic_ = SEMEL_TRY(mock_.fresh_topic(4));
        return {};
    }

private:
    kafka::Cluster& cluster() override { return mock_; }
    kafka::MockCluster mock_;
};

INSTANTIATE_TEST_SUITE_P(Kafka, SinkConformance,
                         ::testing::Values(SinkCase{"broker", [] { return std::make_unique<RealSinkTarget>(); }},
                                           SinkCase{"mock", [] { return std::make_unique<MockSinkTarget>(); }}),
                         case_name);

}  // namespace
}  // namespace semel::conformance
