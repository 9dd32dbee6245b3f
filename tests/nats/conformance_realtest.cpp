// The suites of sinks and sources on a real NATS server.

#include "tests/conformance/sink_suite.hpp"
#include "tests/conformance/source_suite.hpp"
#include "tests/nats/server_realtest.hpp"

#include <cstdlib>

namespace semel::nats {
namespace {

using conformance::Arrived;
using conformance::SinkConformance;
using conformance::SourceConformance;

/// Reads the stream as it is stored, without any code of ours.
Result<std::vector<Arrived>> stored_in(int port, const std::string& stream) {
    natsConnection* connection = nullptr;
    jsCtx* jetstream = nullptr;
    jsStreamInfo* info = nullptr;
    const std::string url = "nats://127.0.0.1:" + std::to_string(port);
    natsStatus status = natsConnection_ConnectTo(&connection, url.c_str());
    if (status == NATS_OK) status = natsConnection_JetStream(&jetstream, connection, nullptr);
    if (status == NATS_OK) status = js_GetStreamInfo(&info, jetstream, stream.c_str(), nullptr, nullptr);
    std::vector<Arrived> all;
    for (std::uint64_t n = 1; status == NATS_OK && n <= info->State.LastSeq; ++n) {
        natsMsg* message = nullptr;
        status = js_GetMsg(&message, jetstream, stream.c_str(), n, nullptr, nullptr);
        if (status != NATS_OK) break;
        std::map<std::string, std::string> headers;
        const char** names = nullptr;
        int count = 0;
        natsMsgHeader_Keys(message, &names, &count);
        for (int i = 0; i < count; ++i) {
            const char* value = nullptr;
            natsMsgHeader_Get(message, names[i], &value);
            headers[names[i]] = value;
        }
        std::free(static_cast<void*>(names));
        std::string body(natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message)));
        natsMsg_Destroy(message);
        const bool structured = headers["content-type"] == "application/cloudevents+json";
        all.push_back(structured ? conformance::arrived_structured(body)
                                 : conformance::arrived_binary(headers, "ce-", std::move(body)));
    }
    jsStreamInfo_Destroy(info);
    jsCtx_Destroy(jetstream);
    natsConnection_Destroy(connection);
    if (status != NATS_OK) return fail(Fault::unavailable, natsStatus_GetText(status));
    return all;
}

class NatsSinkTarget final : public conformance::SinkTarget {
public:
    Status prepare() override {
        server_ = SEMEL_TRY(testing::shared_nats());
        proxy_ = std::make_unique<conformance::SinkProxy>(static_cast<std::uint16_t>(server_->port()));
        return {};
    }
    Result<std::unique_ptr<Sink>> make_sink(const conformance::SinkSettings& settings) override {
        NatsSinkOptions options = sink_to(proxy_->port(), stream_);
        options.stream_options.subjects = {stream_ + ".order.order.>"};
        options.event.source = conformance::event_source;
        options.mode = settings.structured ? Mode::structured : Mode::binary;
        options.max_in_flight = settings.max_in_flight;
        return SEMEL_TRY(NatsSink::open(std::move(options)));
    }
    Result<std::vector<Arrived>> arrived() override { return stored_in(server_->port(), stream_); }
    bool poison(Message& message) override {
        message.type = "of.a.subject.that.no.stream.takes";
        return true;
    }
    [[nodiscard]] std::optional<std::size_t> payload_max() const override { return 1024 * 1024; }
    [[nodiscard]] std::size_t copies_of_a_repeat() const override { return 1; }
    bool be_away(bool away) override {
        proxy_->be_away(away);
        return true;
    }
    bool be_mute(bool mute) override {
        proxy_->be_mute(mute);
        return true;
    }
    std::optional<Status> crash_and_restart() override { return server_->restart(); }

private:
    testing::NatsServer* server_ = nullptr;
    std::unique_ptr<conformance::SinkProxy> proxy_;
    std::string stream_ = fresh_stream();
};

class NatsSourceTarget final : public conformance::SourceTarget {
public:
    Status prepare() override {
        server_ = SEMEL_TRY(testing::shared_nats());
        proxy_ = std::make_unique<conformance::SinkProxy>(static_cast<std::uint16_t>(server_->port()));
        sink_ = SEMEL_TRY(NatsSink::open(sink_to(server_->port(), stream_)));
        return {};
    }
    Status send(std::span<const Message> messages) override {
        for (const Status& answer :
             sink_->publish(messages, Deadline::after(system_clock().now(), std::chrono::seconds(20))))
            SEMEL_TRY(answer);
        return {};
    }
    Result<std::unique_ptr<Source>> make_source(const conformance::SourceSettings& settings) override {
        NatsSourceOptions options = source_from(proxy_->port(), stream_, settings.consumer);
        options.prefetch = settings.prefetch;
        options.ack_wait = settings.patience;
        return SEMEL_TRY(NatsSource::open(std::move(options)));
    }
    std::optional<Status> crash_and_restart() override { return server_->restart(); }
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
    [[nodiscard]] bool tags_outlive_connections() const override { return true; }

private:
    testing::NatsServer* server_ = nullptr;
    std::unique_ptr<conformance::SinkProxy> proxy_;
    std::string stream_ = fresh_stream();
    std::unique_ptr<Sink> sink_;
};

}  // namespace
}  // namespace semel::nats

namespace semel::conformance {

INSTANTIATE_TEST_SUITE_P(Brokers, SinkConformance,
                         ::testing::Values(SinkCase{"nats", [] { return std::make_unique<nats::NatsSinkTarget>(); }}),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Brokers, SourceConformance,
                         ::testing::Values(SourceCase{"nats",
                                                      [] { return std::make_unique<nats::NatsSourceTarget>(); }}),
                         source_name);

}  // namespace semel::conformance
