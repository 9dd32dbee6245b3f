#pragma once

#include "semel/kafka/sink.hpp"
#include "semel/kafka/source.hpp"
#include "tests/conformance/source_target.hpp"
#include "tests/kafka/cluster.hpp"

namespace semel::conformance {

/// What the suite of sources needs, whatever the cluster is.
class KafkaSourceTarget : public SourceTarget {
public:
    Status send(std::span<const Message> messages) override {
        kafka::KafkaSinkOptions options;
        options.connection.brokers = cluster().brokers();
        options.topic = topic_;
        const auto sink = SEMEL_TRY(kafka::KafkaSink::open(options));
        for (const Status& answer : sink->publish(messages, Deadline::never())) SEMEL_TRY(answer);
        return {};
    }
    Result<std::unique_ptr<Source>> make_source(const SourceSettings& settings) override {
        kafka::KafkaSourceOptions options;
        options.connection.brokers = cluster().brokers();
        options.topics = {topic_};
        // Topics are new in each test, and so are groups.
        options.group = settings.consumer + "-" + topic_;
        options.patience = patience(settings);
        return SEMEL_TRY(kafka::KafkaSource::open(options));
    }
    [[nodiscard]] bool acknowledges_each() const override { return false; }
    [[nodiscard]] bool bounds_prefetch() const override { return false; }

protected:
    [[nodiscard]] virtual kafka::Cluster& cluster() = 0;
    [[nodiscard]] virtual Duration patience(const SourceSettings& settings) const = 0;
    std::string topic_;
};

}  // namespace semel::conformance
