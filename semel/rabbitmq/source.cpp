#include "semel/rabbitmq/source.hpp"

#include "semel/rabbitmq/link.hpp"
#include "semel/source/cloud_event.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace semel::rabbitmq {

struct RabbitmqSource::State {
    State(RabbitmqSourceOptions given, Clock& time) : options(std::move(given)), clock(&time) {}

    [[nodiscard]] Status connect(Deadline deadline);
    /// The connection is gone, and with it everything that was delivered on it.
    void forget();
    void absorb(Incoming incoming);
    /// Ends the connection when nothing is held on it any more, if something was given back.
    void return_when_free();
    [[nodiscard]] std::vector<Delivery> hand_out(std::size_t limit);
    [[nodiscard]] Delivery delivery_of(Incoming incoming);

    RabbitmqSourceOptions options;
    Clock* clock;
    Waker waker;
    std::unique_ptr<Link> link;
    bool cancelled = false;
    bool paused = false;
    bool returning = false;                     ///< Something was given back, and goes with the connection.
    std::deque<Incoming> waiting;               ///< Arrived, and not handed out.
    std::map<DeliveryTag, std::uint64_t> held;  ///< Handed out on this connection: ours to the broker's tag.
    DeliveryTag tags = 0;                       ///< Goes on across connections.
};

Status RabbitmqSource::State::connect(Deadline deadline) {
    if (link && !cancelled) return {};
    forget();
    auto fresh = SEMEL_TRY(Link::open(options.connection, options.heartbeat, *clock, deadline));
    if (options.declare)
        SEMEL_TRY(fresh->declare({.exchange = options.exchange,
                                  .exchange_type = options.exchange_type,
                                  .queue = options.queue,
                                  .binding = options.binding,
                                  .single_active_consumer = options.single_active_consumer}));
    SEMEL_TRY(fresh->consume(options.queue, options.prefetch));
    link = std::move(fresh);
    return {};
}

void RabbitmqSource::State::forget() {
    link.reset();
    cancelled = false;
    returning = false;
    waiting.clear();
    held.clear();
}

void RabbitmqSource::State::absorb(Incoming incoming) {
    // The queue was deleted, or its leader moves: a new connection finds out.
    if (incoming.kind == Incoming::Kind::cancelled) cancelled = true;
    // Behind what was given back it would be out of turn; it goes back as well.
    if (incoming.kind == Incoming::Kind::delivered && !returning) waiting.push_back(std::move(incoming));
}

void RabbitmqSource::State::return_when_free() {
    if (returning && held.empty()) forget();
}

Delivery RabbitmqSource::State::delivery_of(Incoming incoming) {
    Delivery delivery{.tag = ++tags,
                      .redelivered = incoming.redelivered,
                      .message = received_cloud_event(incoming.headers, "cloudEvents:", incoming.body)};
    if (delivery.message.id.empty()) delivery.message.id = std::move(incoming.message_id);
    delivery.message.topic = incoming.exchange.empty() ? std::move(incoming.routing_key)
                                                       : std::move(incoming.exchange) + "/" + incoming.routing_key;
    held.emplace(tags, incoming.tag);
    return delivery;
}

std::vector<Delivery> RabbitmqSource::State::hand_out(std::size_t limit) {
    std::vector<Delivery> deliveries;
    while (deliveries.size() < limit && !waiting.empty()) {
        deliveries.push_back(delivery_of(std::move(waiting.front())));
        waiting.pop_front();
    }
    return deliveries;
}

RabbitmqSource::RabbitmqSource(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

// The connection is closed, and nothing is said before that: the broker puts back what was not acknowledged and gives the
// queue to the next consumer in one step. One that is told to stop consuming gives the queue away at once, and what the
// source still held would come behind what is in the queue.
RabbitmqSource::~RabbitmqSource() = default;

Result<std::unique_ptr<RabbitmqSource>> RabbitmqSource::open(RabbitmqSourceOptions options, Clock& clock) {
    SEMEL_TRY(check(options));
    auto state = std::make_unique<State>(std::move(options), clock);
    if (Status connected = state->connect({}); !connected) {
        Error error = std::move(connected).error();
        if (error.cause.code == "404") {
            error.fault = Fault::rejected;
            error.cause.hint = "make the queue on the broker, or let it be made: declare=true";
        }
        return fail(std::move(error));
    }
    return std::unique_ptr<RabbitmqSource>(new RabbitmqSource(std::move(state)));
}

Result<std::vector<Delivery>> RabbitmqSource::receive(std::size_t limit, Deadline deadline) {
    State& state = *state_;
    SEMEL_TRY(state.connect(deadline));
    const std::size_t wanted = state.paused || state.returning ? 0 : limit;
    while (true) {
        const bool enough = wanted > 0 && state.waiting.size() >= wanted;
        const bool something = wanted > 0 && !state.waiting.empty();
        if (enough) return state.hand_out(wanted);
        // Whatever is there already is taken along.
        auto incoming = state.link->next(something ? Instant() : deadline.at(), &state.waker);
        if (!incoming) {
            state.forget();
            return fail(std::move(incoming).error());
        }
        if (*incoming) {
            state.absorb(**std::move(incoming));
            if (state.cancelled) return fail(Fault::unavailable, "RabbitMQ stopped the deliveries of the queue");
            continue;
        }
        const bool woken = state.waker.take();
        if (something || woken || deadline.passed(state.clock->now())) return state.hand_out(wanted);
    }
}

Status RabbitmqSource::acknowledge(std::span<const DeliveryTag> tags) {
    State& state = *state_;
    std::size_t strangers = 0;
    Status told;
    for (const DeliveryTag tag : tags) {
        const auto node = state.held.extract(tag);
        if (node.empty())
            ++strangers;
        else if (told)
            told = state.link->acknowledge(node.mapped());
    }
    if (!told) {
        state.forget();
        return fail(Fault::unknown, "the connection to RabbitMQ broke while acknowledging");
    }
    state.return_when_free();
    if (strangers == 0) return {};
    return fail(Fault::unknown, std::to_string(strangers) + " were delivered on a connection that is gone");
}

Status RabbitmqSource::give_back(std::span<const DeliveryTag> tags) {
    State& state = *state_;
    std::vector<std::uint64_t> given;
    for (const DeliveryTag tag : tags)
        if (const auto node = state.held.extract(tag); !node.empty()) given.push_back(node.mapped());
    if (given.empty()) return {};
    // What stands behind them goes back as well, and so does what is on its way, or it would come first.
    if (state.options.single_active_consumer) {
        // With the connection, so that no other consumer gets the queue before all of it is back; and when what is still
        // held has been settled, or it would come again.
        state.returning = true;
        state.waiting.clear();
        state.return_when_free();
        return {};
    }
    Status told = state.link->stop_consuming(state.options.connection.connect_limit);
    while (told) {
        auto incoming = state.link->next(Instant());
        if (!incoming) {
            told = fail(std::move(incoming).error());
            break;
        }
        if (!*incoming) break;
        state.absorb(**std::move(incoming));
    }
    for (const Incoming& one : std::exchange(state.waiting, {})) given.push_back(one.tag);
    std::ranges::sort(given);
    for (const std::uint64_t tag : given)
        if (told) told = state.link->requeue(tag);
    if (told) told = state.link->consume(state.options.queue, state.options.prefetch);
    if (!told) state.forget();
    return told;
}

void RabbitmqSource::pause() { state_->paused = true; }
void RabbitmqSource::resume() { state_->paused = false; }
void RabbitmqSource::wake() { state_->waker.wake(); }

}  // namespace semel::rabbitmq
