#pragma once

#include "semel/base/time.hpp"
#include "semel/kafka/connection.hpp"
#include "semel/kafka/encode.hpp"
#include "semel/message/cloud_event.hpp"
#include "semel/sink/sink.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace semel::kafka {

struct KafkaSinkOptions {
    Connection connection{};
    /// A name, or a template: "shop.{aggregate}"; see `topic_of`.
    std::string topic{};
    CloudEventOptions event{.source = "/semel"};
    Mode mode = Mode::binary;
    /// Longest publish, whatever the caller would allow.
    Duration deadline = std::chrono::seconds(10);
    /// Messages that were sent and not answered yet, at most.
    std::size_t max_in_flight = 256;
    /// How long a topic that nobody knows may take to appear, before its events are refused.
    Duration topic_limit = std::chrono::seconds(2);
};

/// Publishes events to Kafka as CloudEvents, with the aggregate as the key: all replicas in sync have what was
/// acknowledged (acks=all), and retries of the client itself neither repeat nor reorder (idempotent producer).
///
/// Events go out in rounds, and of an aggregate only as many in one round as are sure to be one batch of the broker's, which
/// takes or refuses it as a whole. That keeps the order when a broker refuses one of them: librdkafka, left to itself, goes
/// on with those behind it. One thread at a time.
class KafkaSink final : public Sink {
public:
    /// An Error (`rejected`) says what is wrong with the options. Talks to nobody.
    [[nodiscard]] static Result<std::unique_ptr<KafkaSink>> open(KafkaSinkOptions options,
                                                                 Clock& clock = system_clock());
    ~KafkaSink() override;
    KafkaSink(const KafkaSink&) = delete;
    KafkaSink& operator=(const KafkaSink&) = delete;

    /// What is not answered in time is taken out of the client's queues, so that nothing is sent behind the caller's back.
    [[nodiscard]] std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override;

private:
    struct State;
    explicit KafkaSink(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::kafka
