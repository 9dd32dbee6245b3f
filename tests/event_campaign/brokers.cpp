#include "tests/event_campaign/brokers.hpp"

#include "semel/testing/kafka_server.hpp"
#include "semel/testing/nats_server.hpp"
#include "semel/testing/rabbitmq_server.hpp"

#include <filesystem>

namespace semel::campaign {
namespace {

class Nats final : public Broker {
public:
    explicit Nats(testing::NatsServer server) : server_(std::move(server)) {}
    std::string sink() const override { return address() + "?create=true"; }
    std::string source() const override { return address(); }

private:
    [[nodiscard]] std::string address() const {
        return "nats://127.0.0.1:" + std::to_string(server_.port()) + "/EVENTS";
    }
    testing::NatsServer server_;
};

class Rabbitmq final : public Broker {
public:
    explicit Rabbitmq(testing::RabbitmqServer server) : server_(std::move(server)) {}
    std::string sink() const override { return address() + "&queue=events"; }
    std::string source() const override { return address() + "&queue=events&prefetch=1000"; }

private:
    [[nodiscard]] std::string address() const {
        return "amqp://guest:guest@127.0.0.1:" + std::to_string(server_.port()) + "/?exchange=events&declare=true";
    }
    testing::RabbitmqServer server_;
};

class Kafka final : public Broker {
public:
    explicit Kafka(testing::KafkaServer server) : server_(std::move(server)) {}
    std::string sink() const override { return "kafka://" + server_.brokers() + "/events"; }
    std::string source() const override { return "kafka://" + server_.brokers() + "/events"; }

private:
    testing::KafkaServer server_;
};

}  // namespace

Result<std::unique_ptr<Broker>> start_nats() { return std::make_unique<Nats>(SEMEL_TRY(testing::NatsServer::start())); }

Result<std::unique_ptr<Broker>> start_rabbitmq() {
    return std::make_unique<Rabbitmq>(SEMEL_TRY(testing::RabbitmqServer::start()));
}

Result<std::unique_ptr<Broker>> start_kafka() {
    const std::string script = (std::filesystem::path(SEMEL_SOURCE_DIR) / "tools/kafka").string();
    const auto printed = SEMEL_TRY(testing::run({.argv = {script}}, std::chrono::minutes(10)));
    if (!printed.exit.success()) return fail(Fault::unavailable, "no Kafka broker: " + printed.error_output);
    const std::string jars = printed.output.substr(0, printed.output.find('\n'));
    return std::make_unique<Kafka>(SEMEL_TRY(testing::KafkaServer::start(
        {.class_path = jars, .settings = {"num.partitions=8"}, .second_advertised = std::nullopt})));
}

}  // namespace semel::campaign
