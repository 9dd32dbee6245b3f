#pragma once

#include "semel/kafka/sink.hpp"
#include "semel/kafka/source.hpp"
#include "semel/outbox/append.hpp"
#include "semel/relay/runner.hpp"
#include "tests/consuming/fixture.hpp"
#include "tests/kafka/cluster.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace semel::kafka {

/// Quick to take over, and quick to try again.
inline RelayOptions relay_options() {
    RelayOptions options;
    options.rules.batch = 32;
    options.rules.lease = std::chrono::milliseconds(1500);
    options.rules.publish_limit = std::chrono::milliseconds(900);
    options.rules.poll = std::chrono::milliseconds(10);
    options.rules.backoff = {.base = std::chrono::milliseconds(1),
                             .cap = std::chrono::milliseconds(50),
                             .throttled_base = std::chrono::milliseconds(1)};
    options.rules.breaker.attempts_min = 100'000;
    return options;
}

inline std::unique_ptr<KafkaSink> sink_to(const std::string& brokers, const std::string& topic) {
    KafkaSinkOptions options;
    options.connection.brokers = brokers;
    options.topic = topic;
    return KafkaSink::open(options).value();
}

inline std::unique_ptr<KafkaSource> source_of(const std::string& brokers, const std::string& topic) {
    KafkaSourceOptions options;
    options.connection.brokers = brokers;
    options.topics = {topic};
    options.group = "billing-" + topic;
    options.patience = std::chrono::seconds(1);
    return KafkaSource::open(options).value();
}

/// The row says which event it was by its number.
inline Status note_number(ConsumerWork& work) {
    work.tx.post("INSERT INTO effect (message, order_key) VALUES ($1, $2)", work.message.payload, work.message.key);
    return {};
}

}  // namespace semel::kafka
