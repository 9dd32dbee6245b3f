#pragma once

#include "semel/base/time.hpp"
#include "semel/message/cloud_event.hpp"
#include "semel/rabbitmq/address.hpp"
#include "semel/sink/sink.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace semel::rabbitmq {

enum class Mode : unsigned char {
    binary,      ///< The payload is the message, the attributes are headers ("cloudEvents:id").
    structured,  ///< The message is one JSON document with both.
};

struct RabbitmqSinkOptions {
    ConnectionOptions connection{};
    std::string exchange{};  ///< None: the default one, where the routing key names a queue.
    std::string routing_key = "{aggregate_type}.{type}";  ///< See RoutingKeyTemplate.
    /// Declares the exchange, durable and of this type, and with `queue` a quorum queue that gets what `binding` covers.
    bool declare = false;
    std::string exchange_type = "topic";
    std::string queue{};
    std::string binding = "#";
    bool single_active_consumer = true;  ///< Of the queue: as in RabbitmqSourceOptions, which must say the same.
    CloudEventOptions event{.source = "/semel"};
    Mode mode = Mode::binary;
    std::size_t max_in_flight = 256;               ///< Messages sent and not confirmed, each of another aggregate.
    Duration deadline = std::chrono::seconds(10);  ///< Of one `publish`, if the caller allows more.
    /// Bytes of one message. A broker that is sent more than it takes (128 MiB unless set) closes the channel for all.
    std::size_t message_max = std::size_t(128) * 1024 * 1024;
};

/// From a URL: amqp://user:password@host:port/vhost?exchange=…&routing_key=…&queue=…&declare=true&mode=structured, and
/// what `parse_url` knows. An Error (`rejected`) says what is wrong, without repeating the URL.
[[nodiscard]] Result<RabbitmqSinkOptions> sink_options(std::string_view url);
/// Rejected: they cannot work, and why.
[[nodiscard]] Status check(const RabbitmqSinkOptions& options);

/// Publishes events to an exchange: persistent, with publisher confirms, and mandatory, so that an event which no queue wants
/// is `rejected` instead of lost. Acknowledged means that every queue it was routed to has it: a quorum queue on the disks
/// of a majority. The broker knows no repeats; readers tell them by the id.
///
/// Of each aggregate one event is under way at a time, so that a refused or lost one cannot be overtaken; events of different
/// aggregates are under way side by side. While the broker is short of memory or disk nothing is sent and the answer is
/// `throttled`, which also is that to a nack. A connection that broke, or on which something stayed unanswered, is closed
/// for good, and the next `publish` makes another. One thread at a time.
class RabbitmqSink final : public Sink {
public:
    /// Connects, and looks for the exchange. Rejected: the options cannot work, or there is no such exchange. Unavailable:
    /// nobody is there.
    [[nodiscard]] static Result<std::unique_ptr<RabbitmqSink>> open(RabbitmqSinkOptions options,
                                                                    Clock& clock = system_clock());
    ~RabbitmqSink() override;
    RabbitmqSink(const RabbitmqSink&) = delete;
    RabbitmqSink& operator=(const RabbitmqSink&) = delete;

    [[nodiscard]] std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override;

private:
    struct State;
    explicit RabbitmqSink(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::rabbitmq
