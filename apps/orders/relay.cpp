#include "apps/orders/relay.hpp"

#include "semel/base/log.hpp"
#include "semel/relay/runner.hpp"
#include "semel/webhook/sink.hpp"

namespace orders {
namespace {

/// Says once that a receiver does not take events, and once that it takes them again.
class LoudSink final : public semel::Sink {
public:
    explicit LoudSink(std::unique_ptr<semel::Sink> sink) : sink_(std::move(sink)) {}

    [[nodiscard]] std::vector<semel::Status> publish(std::span<const semel::Message> messages,
                                                     semel::Deadline deadline) override {
        auto answers = sink_->publish(messages, deadline);
        std::string trouble;
        for (const semel::Status& one : answers)
            if (!one && trouble.empty()) trouble = one.error().describe();
        if (!trouble.empty() && trouble != trouble_)
            semel::log(semel::LogLevel::warning, "relay: events are kept and sent again: " + trouble);
        if (trouble.empty() && !trouble_.empty()) semel::log(semel::LogLevel::info, "relay: events are taken again");
        trouble_ = std::move(trouble);
        return answers;
    }

private:
    std::unique_ptr<semel::Sink> sink_;
    std::string trouble_;
};

}  // namespace

struct EventRelay::State {
    explicit State(std::unique_ptr<semel::Sink> to) : sink(std::move(to)) {}
    LoudSink sink;
    std::unique_ptr<semel::Relay> relay;
};

EventRelay::EventRelay(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
EventRelay::EventRelay(EventRelay&&) noexcept = default;
EventRelay& EventRelay::operator=(EventRelay&&) noexcept = default;
EventRelay::~EventRelay() = default;

semel::Result<EventRelay> EventRelay::start(semel::Database& database, semel::Doorbell& doorbell,
                                            const RelayConfig& config) {
    semel::webhook::SinkOptions options;
    options.url = config.to;
    options.event.source = "/semel-orders";
    options.secrets = config.secrets;
    options.allow_private = config.allow_private;
    auto sink = semel::webhook::WebhookSink::create(std::move(options), database.clock());
    if (!sink) return semel::fail(std::move(sink).error().within("relay"));
    auto state = std::make_unique<State>(*std::move(sink));
    semel::RelayOptions how;
    how.name = "semel-orders";
    state->relay = SEMEL_TRY(semel::Relay::create(database, state->sink, doorbell, how));
    state->relay->start();
    return EventRelay(std::move(state));
}

}  // namespace orders
