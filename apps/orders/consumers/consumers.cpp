#include "apps/orders/consumers/consumers.hpp"

#include "apps/orders/consumers/consumption.hpp"
#include "apps/orders/consumers/wanted_source.hpp"
#include "apps/orders/contracts.hpp"
#include "semel/consumer/consumer.hpp"
#include "semel/open/source.hpp"
#include "semel/webhook/source.hpp"

#include <algorithm>
#include <optional>

namespace orders {
namespace {

using semel::Result;
using semel::Status;

/// One consumer at one source.
struct Consuming {
    std::span<const std::string_view> types;
    std::unique_ptr<semel::Source> source;
    semel::webhook::WebhookSource* webhook = nullptr;  ///< The source, if it is one.
    std::unique_ptr<WantedSource> wanted{};
    std::unique_ptr<semel::Consumer> consumer{};
};

/// The broker knows each consumer by its name, and gives each of them every message.
Result<std::unique_ptr<semel::Source>> source_at(const std::string& address, std::string_view consumer,
                                                 semel::Clock& clock) {
    auto source = semel::open_source(address, consumer, clock);
    if (!source) return semel::fail(std::move(source).error().within("`consume.from`"));
    return source;
}

Result<Consuming> consume(const ConsumeContext& context, const ConsumeConfig& config, const Consumption& what,
                          std::unique_ptr<semel::Source> source) {
    Consuming made{.types = what.types, .source = std::move(source)};
    made.wanted = std::make_unique<WantedSource>(*made.source, what.types, context.on_done);
    semel::ConsumerOptions options;
    options.name = what.name;
    options.rules.workers = config.workers;
    options.business_key = what.business_key;
    options.check_event = context.check_event;
    made.consumer = SEMEL_TRY(semel::Consumer::create(context.database, *made.wanted, std::move(options), what.handle));
    return made;
}

}  // namespace

struct Consumers::State {
    std::vector<Consuming> all;
};

Consumers::Consumers(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Consumers::~Consumers() {
    close();
    for (const Consuming& one : state_->all) one.consumer->stop();
}

Result<std::unique_ptr<Consumers>> Consumers::create(const ConsumeContext& context, const ConsumeConfig& config) {
    const semel::Contracts contracts = SEMEL_TRY(semel::Contracts::parse(contract_files()));
    auto state = std::make_unique<State>();
    for (const Consumption& what : {fulfilment(contracts), billing(contracts)}) {
        if (!config.from.empty()) {
            auto broker = SEMEL_TRY(source_at(config.from, what.name, context.database.clock()));
            state->all.push_back(SEMEL_TRY(consume(context, config, what, std::move(broker))));
        }
        if (!config.webhook) continue;
        auto webhook = std::make_unique<semel::webhook::WebhookSource>(semel::webhook::WebhookSource::offered_default,
                                                                       context.database.clock());
        semel::webhook::WebhookSource* const door = webhook.get();
        state->all.push_back(SEMEL_TRY(consume(context, config, what, std::move(webhook))));
        state->all.back().webhook = door;
    }
    return std::unique_ptr<Consumers>(new Consumers(std::move(state)));
}

void Consumers::start() {
    for (const Consuming& one : state_->all) one.consumer->start();
}

Status Consumers::take(const semel::ReceivedMessage& message, semel::Deadline deadline) {
    for (const Consuming& one : state_->all) {
        if (one.webhook == nullptr || std::ranges::find(one.types, message.type) == one.types.end()) continue;
        // Should several want it and one of them fail, it comes again, and is a repeat to the others.
        SEMEL_TRY(one.webhook->offer(message, deadline));
    }
    return {};
}

void Consumers::close() {
    for (const Consuming& one : state_->all)
        if (one.webhook != nullptr) one.webhook->close();
}

}  // namespace orders
