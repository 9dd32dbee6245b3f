// The suites of sinks and sources on a real RabbitMQ.

#include "tests/conformance/sink_suite.hpp"
#include "tests/conformance/source_suite.hpp"
#include "tests/rabbitmq/server_realtest.hpp"

#include <amqp.h>
#include <amqp_tcp_socket.h>

namespace semel::rabbitmq {
namespace {

using conformance::Arrived;

std::string text(amqp_bytes_t bytes) { return {static_cast<const char*>(bytes.bytes), bytes.len}; }

Arrived read_message(const amqp_message_t& message) {
    std::map<std::string, std::string> headers;
    const amqp_basic_properties_t& properties = message.properties;
    headers["content-type"] = text(properties.content_type);
    // The broker adds how often it delivered, a number.
    for (int n = 0; n < properties.headers.num_entries; ++n)
        if (properties.headers.entries[n].value.kind == AMQP_FIELD_KIND_UTF8)
            headers[text(properties.headers.entries[n].key)] = text(properties.headers.entries[n].value.value.bytes);
    EXPECT_EQ(properties.delivery_mode, AMQP_DELIVERY_PERSISTENT);
    const bool structured = headers["content-type"] == "application/cloudevents+json";
    return structured ? conformance::arrived_structured(text(message.body))
                      : conformance::arrived_binary(headers, "cloudEvents:", text(message.body));
}

/// Reads the queue without any code of ours, and leaves it as it was.
Result<std::vector<Arrived>> stored_in(int port, const std::string& queue) {
    amqp_connection_state_t connection = amqp_new_connection();
    amqp_socket_t* socket = amqp_tcp_socket_new(connection);
    std::vector<Arrived> all;
    bool fine = amqp_socket_open(socket, "127.0.0.1", port) == AMQP_STATUS_OK &&
                amqp_login(connection, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest").reply_type ==
                    AMQP_RESPONSE_NORMAL &&
                amqp_channel_open(connection, 1) != nullptr;
    while (fine) {
        const amqp_rpc_reply_t got = amqp_basic_get(connection, 1, amqp_cstring_bytes(queue.c_str()), 0);
        fine = got.reply_type == AMQP_RESPONSE_NORMAL;
        if (!fine || got.reply.id == AMQP_BASIC_GET_EMPTY_METHOD) break;
        amqp_message_t message{};
        fine = amqp_read_message(connection, 1, &message, 0).reply_type == AMQP_RESPONSE_NORMAL;
        if (!fine) break;
        all.push_back(read_message(message));
        amqp_destroy_message(&message);
        amqp_maybe_release_buffers(connection);
    }
    amqp_connection_close(connection, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(connection);
    if (!fine) return fail(Fault::unavailable, "the queue cannot be read");
    return all;
}

/// A quorum queue that is younger than half a second does not survive a crash of RabbitMQ 3.10: the register of its Raft
/// members is written to the disk that often (rabbitmq/ra, pull request 443).
Status crash_and_restart_later(testing::RabbitmqServer& server, Instant made_at) {
    system_clock().sleep(made_at + std::chrono::milliseconds(1500), {});
    return server.restart();
}

class RabbitmqSinkTarget final : public conformance::SinkTarget {
public:
    Status prepare() override {
        server_ = SEMEL_TRY(testing::shared_rabbitmq());
        proxy_ = std::make_unique<conformance::SinkProxy>(static_cast<std::uint16_t>(server_->port()));
        return {};
    }
    Result<std::unique_ptr<Sink>> make_sink(const conformance::SinkSettings& settings) override {
        RabbitmqSinkOptions options = sink_to(proxy_->port(), exchange_);
        options.queue = exchange_ + "-all";
        options.single_active_consumer = false;  // It is looked into, which RabbitMQ allows of no other queue.
        options.binding = "order.order.#";
        options.event.source = conformance::event_source;
        options.mode = settings.structured ? Mode::structured : Mode::binary;
        options.max_in_flight = settings.max_in_flight;
        options.message_max = *payload_max();
        made_at_ = system_clock().now();
        return SEMEL_TRY(RabbitmqSink::open(std::move(options)));
    }
    Result<std::vector<Arrived>> arrived() override { return stored_in(server_->port(), exchange_ + "-all"); }
    bool poison(Message& message) override {
        message.type = "that.no.queue.wants";
        return true;
    }
    [[nodiscard]] std::optional<std::size_t> payload_max() const override { return 2 * 1024 * 1024; }
    bool be_away(bool away) override {
        proxy_->be_away(away);
        return true;
    }
    bool be_mute(bool mute) override {
        proxy_->be_mute(mute);
        return true;
    }
    std::optional<Status> crash_and_restart() override { return crash_and_restart_later(*server_, made_at_); }

private:
    testing::RabbitmqServer* server_ = nullptr;
    std::unique_ptr<conformance::SinkProxy> proxy_;
    std::string exchange_ = fresh_exchange();
    Instant made_at_;
};

class RabbitmqSourceTarget final : public conformance::SourceTarget {
public:
    Status prepare() override {
        server_ = SEMEL_TRY(testing::shared_rabbitmq());
        proxy_ = std::make_unique<conformance::SinkProxy>(static_cast<std::uint16_t>(server_->port()));
        sink_ = SEMEL_TRY(RabbitmqSink::open(sink_to(server_->port(), exchange_)));
        // A queue gets what is sent from when it is there.
        for (const char* consumer : {"billing", "shipping"})
            SEMEL_TRY(RabbitmqSource::open(source_from(server_->port(), exchange_, consumer)));
        made_at_ = system_clock().now();
        return {};
    }
    Status send(std::span<const Message> messages) override {
        for (const Status& answer :
             sink_->publish(messages, Deadline::after(system_clock().now(), std::chrono::seconds(20))))
            SEMEL_TRY(answer);
        return {};
    }
    Result<std::unique_ptr<Source>> make_source(const conformance::SourceSettings& settings) override {
        RabbitmqSourceOptions options = source_from(proxy_->port(), exchange_, settings.consumer);
        options.prefetch = static_cast<std::uint16_t>(settings.prefetch);
        options.heartbeat = std::chrono::seconds(1);
        return SEMEL_TRY(RabbitmqSource::open(std::move(options)));
    }
    std::optional<Status> crash_and_restart() override { return crash_and_restart_later(*server_, made_at_); }
    [[nodiscard]] bool confirms_acknowledgements() const override { return false; }
    bool kill(std::unique_ptr<Source>& source) override {
        proxy_->be_away(true);
        source.reset();
        proxy_->be_away(false);
        return true;
    }
    bool cut_connections() override {
        proxy_->cut_all();
        return true;
    }

private:
    testing::RabbitmqServer* server_ = nullptr;
    std::unique_ptr<conformance::SinkProxy> proxy_;
    std::string exchange_ = fresh_exchange();
    Instant made_at_;
    std::unique_ptr<Sink> sink_;
};

}  // namespace
}  // namespace semel::rabbitmq

namespace semel::conformance {

INSTANTIATE_TEST_SUITE_P(Brokers, SinkConformance,
                         ::testing::Values(SinkCase{"rabbitmq",
                                                    [] { return std::make_unique<rabbitmq::RabbitmqSinkTarget>(); }}),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Brokers, SourceConformance,
                         ::testing::Values(SourceCase{
                             "rabbitmq", [] { return std::make_unique<rabbitmq::RabbitmqSourceTarget>(); }}),
                         source_name);

}  // namespace semel::conformance
