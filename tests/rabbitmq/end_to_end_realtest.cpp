#include "tests/conformance/sink_source_end_to_end.hpp"
#include "tests/rabbitmq/server_realtest.hpp"

#include <sstream>

namespace semel::conformance {
namespace {

class RabbitmqBroker final : public EndToEndBroker {
public:
    RabbitmqBroker(int port, std::string exchange, testing::RabbitmqServer* server)
        : port_(port), exchange_(std::move(exchange)), server_(server) {}

    [[nodiscard]] std::string place() const override { return std::to_string(port_) + " " + exchange_; }
    [[nodiscard]] std::unique_ptr<Sink> sink() override {
        rabbitmq::RabbitmqSinkOptions options = rabbitmq::sink_to(port_, exchange_);
        options.queue = exchange_ + "-billing";
        options.binding = "order.changed";
        return rabbitmq::RabbitmqSink::open(std::move(options)).value();
    }
    [[nodiscard]] std::unique_ptr<Source> source() override {
        static_cast<void>(sink());  // Makes the queue.
        rabbitmq::RabbitmqSourceOptions options = rabbitmq::source_from(port_, exchange_, "billing");
        options.declare = false;
        options.prefetch = 32;
        return rabbitmq::RabbitmqSource::open(std::move(options)).value();
    }
    [[nodiscard]] std::string refused_type() const override { return "that.no.queue.wants"; }
    [[nodiscard]] Status crash_and_restart() override { return server_->restart(); }

private:
    int port_;
    std::string exchange_;
    testing::RabbitmqServer* server_;
};

}  // namespace

Result<std::unique_ptr<EndToEndBroker>> make_broker() {
    testing::RabbitmqServer* server = SEMEL_TRY(testing::shared_rabbitmq());
    return std::make_unique<RabbitmqBroker>(server->port(), rabbitmq::fresh_exchange(), server);
}

std::unique_ptr<EndToEndBroker> find_broker(const std::string& place) {
    std::istringstream text(place);
    int port = 0;
    std::string exchange;
    text >> port >> exchange;
    return std::make_unique<RabbitmqBroker>(port, exchange, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Databases, BrokerEndToEnd, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace semel::conformance
