#include "semel/rabbitmq/sink.hpp"

#include "semel/rabbitmq/failure_table.hpp"
#include "semel/rabbitmq/link.hpp"
#include "semel/rabbitmq/routing_key.hpp"
#include "semel/sink/lanes.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

namespace semel::rabbitmq {
namespace {

/// They must fit into one frame of 128 KiB; the library would send half of the message before it notices.
constexpr std::size_t headers_max = std::size_t(64) * 1024;

Error sent_and_unanswered() {
    Error error;
    error.fault = Fault::unknown;
    error.message = "sent to RabbitMQ, and not confirmed";
    return error;
}

Error not_begun(const Error& why) {
    Error error = why;
    // It was said of another event, or of nobody's.
    if (why.fault == Fault::unknown || why.fault == Fault::rejected) error.fault = Fault::unavailable;
    error.message = "not sent: " + why.message;
    return error;
}

Error why_not(Fault fault, std::string message) {
    Error error;
    error.fault = fault;
    error.message = std::move(message);
    return error;
}

}  // namespace

struct RabbitmqSink::State {
    State(RabbitmqSinkOptions given, RoutingKeyTemplate with, Clock& time)
        : options(std::move(given)), routing_key(std::move(with)), clock(&time) {}

    [[nodiscard]] Status connect(Deadline deadline);
    [[nodiscard]] Status send(const Message& message, Deadline deadline);
    void send_some(Lanes& lanes, std::span<const Message> messages, Deadline deadline);
    /// Hears what the broker has to say, waiting that long for the first word; false: the connection is of no more use, `broken` says why.
    [[nodiscard]] bool listen(Lanes* lanes, std::span<const Message> messages, Instant until);
    void confirmed(Lanes& lanes, std::span<const Message> messages, const Incoming& incoming);
    [[nodiscard]] Status verdict(const Message& message, bool acked);
    /// What is under way stays unanswered.
    void give_up(Lanes& lanes, const Error& rest);

    RabbitmqSinkOptions options;
    RoutingKeyTemplate routing_key;
    Clock* clock;
    std::unique_ptr<Link> link;
    std::uint64_t published = 0;                      ///< On this connection: the newest tag.
    std::map<std::uint64_t, std::size_t> under_way;   ///< By tag: places in the batch.
    std::unordered_map<std::string, Error> returned;  ///< By the event's id, until the confirm that follows.
    bool blocked = false;
    Error broken;
};

Status RabbitmqSink::State::connect(Deadline deadline) {
    if (link && listen(nullptr, {}, clock->now())) return {};
    link.reset();
    blocked = false;
    published = 0;
    returned.clear();
    // No heartbeats: a sink that has nothing to send would not be there to give them. What is gone shows when it is used.
    auto fresh = SEMEL_TRY(Link::open(options.connection, std::chrono::seconds(0), *clock, deadline));
    if (options.declare)
        SEMEL_TRY(fresh->declare({.exchange = options.exchange,
                                  .exchange_type = options.exchange_type,
                                  .queue = options.queue,
                                  .binding = options.binding,
                                  .single_active_consumer = options.single_active_consumer}));
    SEMEL_TRY(fresh->confirm_publishes());
    link = std::move(fresh);
    return {};
}

Status RabbitmqSink::State::send(const Message& message, Deadline deadline) {
    Outgoing outgoing{.exchange = options.exchange,
                      .routing_key = SEMEL_TRY(routing_key.key_of(message)),
                      .message_id = message.id.text(),
                      .type = message.type};
    const auto seconds = std::chrono::floor<std::chrono::seconds>(message.created_at.time_since_epoch()).count();
    outgoing.timestamp = static_cast<std::uint64_t>(std::max<std::int64_t>(0, seconds));
    std::string document;
    if (options.mode == Mode::structured) {
        document = SEMEL_TRY(structured_cloud_event(message, options.event));
        outgoing.headers.push_back({"content-type", "application/cloudevents+json"});
        outgoing.body = document;
    } else {
        BinaryCloudEvent event =
            SEMEL_TRY(binary_cloud_event(message, options.event, "cloudEvents:", HeaderEncoding::utf8));
        outgoing.headers = std::move(event.headers);
        outgoing.body = event.body;
    }
    if (outgoing.body.size() > options.message_max)
        return fail(Fault::rejected, "the event is larger than RabbitMQ takes");
    std::size_t headers = 0;
    for (const CloudEventAttribute& one : outgoing.headers) headers += one.name.size() + one.value.size();
    if (headers > headers_max) return fail(Fault::rejected, "the headers of the event are larger than RabbitMQ takes");
    // Of an attempt that was given up a return may have come late: it says nothing about this one.
    returned.erase(message.id.text());
    return link->publish(outgoing, deadline.remaining(clock->now()));
}

void RabbitmqSink::State::send_some(Lanes& lanes, std::span<const Message> messages, Deadline deadline) {
    if (deadline.passed(clock->now()))
        lanes.close(why_not(Fault::unavailable, "not sent: the time for this batch is over"));
    while (under_way.size() < options.max_in_flight) {
        // A broker that has had enough says so before it stops reading, and then writing would wait in vain.
        if (!under_way.empty() && !listen(&lanes, messages, Instant())) return give_up(lanes, not_begun(broken));
        if (blocked) lanes.close(why_not(Fault::throttled, "not sent: RabbitMQ is short of memory or disk"));
        const auto place = lanes.next();
        if (!place) return;
        const Status sent = send(messages[*place], deadline);
        if (sent) {
            under_way.emplace(++published, *place);
            continue;
        }
        const bool refused = sent.error().fault == Fault::rejected;
        // The connection took it, or part of it, before it broke.
        lanes.answered(*place, refused ? sent : fail(sent_and_unanswered()));
        if (!refused) return give_up(lanes, not_begun(sent.error()));
    }
}

bool RabbitmqSink::State::listen(Lanes* lanes, std::span<const Message> messages, Instant until) {
    auto incoming = link->next(until);
    // Whatever else was said already is heard along with it.
    for (; incoming && *incoming; incoming = link->next(Instant())) {
        Incoming& one = **incoming;
        switch (one.kind) {
            case Incoming::Kind::blocked: blocked = true; break;
            case Incoming::Kind::unblocked: blocked = false; break;
            case Incoming::Kind::returned:
                returned.insert_or_assign(one.message_id, error_from(one.code, one.text));
                break;
            case Incoming::Kind::acked:
            case Incoming::Kind::nacked:
                if (lanes != nullptr) confirmed(*lanes, messages, one);
                break;
            default: break;
        }
    }
    if (incoming) return true;
    broken = std::move(incoming).error();
    return false;
}

void RabbitmqSink::State::confirmed(Lanes& lanes, std::span<const Message> messages, const Incoming& incoming) {
    auto first = incoming.multiple ? under_way.begin() : under_way.find(incoming.tag);
    const auto last = under_way.upper_bound(incoming.tag);
    while (first != under_way.end() && first != last) {
        const Status answer = verdict(messages[first->second], incoming.kind == Incoming::Kind::acked);
        if (!answer && answer.error().fault == Fault::throttled) lanes.close(not_begun(answer.error()));
        lanes.answered(first->second, answer);
        first = under_way.erase(first);
    }
}

Status RabbitmqSink::State::verdict(const Message& message, bool acked) {
    auto back = returned.extract(message.id.text());
    if (!back.empty()) return fail(std::move(back.mapped()));
    if (acked) return {};
    return fail(Fault::throttled, "RabbitMQ did not take it: a queue is full, or failed");
}

void RabbitmqSink::State::give_up(Lanes& lanes, const Error& rest) {
    lanes.close(rest);
    for (const auto& [tag, place] : under_way) lanes.answered(place, fail(sent_and_unanswered()));
    under_way.clear();
    // While it is blocked the broker says nothing, and there is nobody better to talk to.
    if (!blocked) link.reset();
}

RabbitmqSink::RabbitmqSink(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
RabbitmqSink::~RabbitmqSink() = default;

Result<std::unique_ptr<RabbitmqSink>> RabbitmqSink::open(RabbitmqSinkOptions options, Clock& clock) {
    SEMEL_TRY(check(options));
    RoutingKeyTemplate routing_key = SEMEL_TRY(RoutingKeyTemplate::parse(options.routing_key));
    auto state = std::make_unique<State>(std::move(options), std::move(routing_key), clock);
    SEMEL_TRY(state->connect(Deadline::after(clock.now(), state->options.deadline)));
    if (Status found = state->link->find_exchange(state->options.exchange); !found) {
        Error error = std::move(found).error();
        if (error.cause.code == "404") {
            error.fault = Fault::rejected;
            error.cause.hint = "make the exchange on the broker, or let it be made: declare=true";
        }
        return fail(std::move(error));
    }
    return std::unique_ptr<RabbitmqSink>(new RabbitmqSink(std::move(state)));
}

std::vector<Status> RabbitmqSink::publish(std::span<const Message> messages, Deadline deadline) {
    State& state = *state_;
    deadline = deadline.within(state.clock->now(), state.options.deadline);
    Lanes lanes(messages);
    if (const Status ready = state.connect(deadline); !ready) lanes.close(not_begun(ready.error()));
    while (true) {
        state.send_some(lanes, messages, deadline);
        if (lanes.finished()) break;
        const bool heard = state.listen(&lanes, messages, deadline.at());
        if (!heard)
            state.give_up(lanes, not_begun(state.broken));
        else if (deadline.passed(state.clock->now()) && !state.under_way.empty())
            state.give_up(lanes, why_not(Fault::unavailable, "not sent: RabbitMQ did not answer in time"));
    }
    return std::move(lanes).take();
}

}  // namespace semel::rabbitmq
