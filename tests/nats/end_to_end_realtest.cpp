#include "tests/conformance/sink_source_end_to_end.hpp"
#include "tests/nats/server_realtest.hpp"

#include <sstream>

namespace semel::conformance {
namespace {

class NatsBroker final : public EndToEndBroker {
public:
    NatsBroker(int port, std::string stream, testing::NatsServer* server)
        : port_(port), stream_(std::move(stream)), server_(server) {}

    [[nodiscard]] std::string place() const override { return std::to_string(port_) + " " + stream_; }
    [[nodiscard]] std::unique_ptr<Sink> sink() override {
        nats::NatsSinkOptions options = nats::sink_to(port_, stream_);
        options.stream_options.subjects = {stream_ + ".order.changed"};
        return nats::NatsSink::open(std::move(options)).value();
    }
    [[nodiscard]] std::unique_ptr<Source> source() override {
        static_cast<void>(sink());  // Makes the stream.
        nats::NatsSourceOptions options = nats::source_from(port_, stream_, "billing");
        options.prefetch = 32;
        options.ack_wait = std::chrono::seconds(1);
        return nats::NatsSource::open(std::move(options)).value();
    }
    [[nodiscard]] std::string refused_type() const override { return "of.no.subject"; }
    [[nodiscard]] Status crash_and_restart() override { return server_->restart(); }

private:
    int port_;
    std::string stream_;
    testing::NatsServer* server_;
};

}  // namespace

Result<std::unique_ptr<EndToEndBroker>> make_broker() {
    testing::NatsServer* server = SEMEL_TRY(testing::shared_nats());
    return std::make_unique<NatsBroker>(server->port(), nats::fresh_stream(), server);
}

std::unique_ptr<EndToEndBroker> find_broker(const std::string& place) {
    std::istringstream text(place);
    int port = 0;
    std::string stream;
    text >> port >> stream;
    return std::make_unique<NatsBroker>(port, stream, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Databases, BrokerEndToEnd, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace semel::conformance
