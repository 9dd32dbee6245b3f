#include "apps/orders/relay.hpp"

#include "semel/base/log.hpp"
#include "semel/contract/contracts.hpp"
#include "semel/open/sink.hpp"
#include "semel/relay/runner.hpp"
#include "semel/sink/checked_sink.hpp"
#include "semel/webhook/sink.hpp"

#include <algorithm>

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
            if (!one && trouble.empty() && !is_told_elsewhere(one.error())) trouble = one.error().describe();
        const bool taken = std::ranges::any_of(answers, [](const semel::Status& one) { return one.has_value(); });
        // Who was not asked for anything that it could take has said nothing.
        if (trouble.empty() && !taken) return answers;
        if (!trouble.empty() && trouble != trouble_)
            semel::log(semel::LogLevel::warning, "relay: events are kept and sent again: " + trouble);
        if (trouble.empty() && !trouble_.empty()) semel::log(semel::LogLevel::info, "relay: events are taken again");
        trouble_ = std::move(trouble);
        return answers;
    }

private:
    /// The relay itself tells of what it sets aside; and what is held back is no trouble of its own.
    static bool is_told_elsewhere(const semel::Error& error) {
        return semel::is_final(error) || error.message == semel::behind_unacknowledged().message;
    }

    std::unique_ptr<semel::Sink> sink_;
    std::string trouble_;
};

constexpr std::string_view event_source = "/semel-orders";

/// Whatever the address names. A webhook's requests are held to the time that one publish may take; brokers are told of it
/// with each publish.
semel::Result<std::unique_ptr<semel::Sink>> sink_of(const RelayConfig& config, semel::Duration publish_limit,
                                                    semel::Clock& clock) {
    if (!config.to.starts_with("http://") && !config.to.starts_with("https://"))
        return semel::open_sink(config.to, {.source = std::string(event_source)}, clock);
    semel::webhook::SinkOptions options;
    options.url = config.to;
    options.event.source = event_source;
    options.secrets = config.secrets;
    options.allow_private = config.allow_private;
    options.request_limit = std::min(options.request_limit, publish_limit);
    options.connect_limit = std::min(options.connect_limit, options.request_limit);
    return SEMEL_TRY(semel::webhook::WebhookSink::create(std::move(options), clock));
}

semel::Result<std::unique_ptr<semel::Sink>> with_contracts(std::unique_ptr<semel::Sink> sink,
                                                           const RelayConfig& config) {
    if (config.contracts.empty()) return sink;
    const auto contracts = SEMEL_TRY(semel::Contracts::load(config.contracts));
    const auto unknown = config.allow_unknown_types ? semel::UnknownTypes::allow : semel::UnknownTypes::refuse;
    return std::make_unique<semel::CheckedSink>(std::move(sink), [contracts, unknown](const semel::Message& one) {
        return contracts.check(one.type, one.payload, one.headers, unknown);
    });
}

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
    semel::RelayOptions how;
    how.name = "semel-orders";
    how.rules.lease = config.lease;
    // Whatever takes its time must leave some for renewing the lease.
    how.rules.publish_limit = std::min(how.rules.publish_limit, config.lease / 2);
    how.database_limit = std::min(how.database_limit, config.lease / 3);
    auto sink = sink_of(config, how.rules.publish_limit, database.clock());
    if (!sink) return semel::fail(std::move(sink).error().within("relay"));
    auto guarded = with_contracts(*std::move(sink), config);
    if (!guarded) return semel::fail(std::move(guarded).error().within("relay"));
    auto state = std::make_unique<State>(*std::move(guarded));
    state->relay = SEMEL_TRY(semel::Relay::create(database, state->sink, doorbell, how));
    state->relay->start();
    return EventRelay(std::move(state));
}

}  // namespace orders
