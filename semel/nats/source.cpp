#include "semel/nats/source.hpp"

#include "semel/nats/delivery.hpp"
#include "semel/nats/durable.hpp"
#include "semel/nats/failure_table.hpp"
#include "semel/nats/link.hpp"

#include <nats/nats.h>

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

namespace semel::nats {
namespace {

/// A pull that is asked for with less time to go would be over before it is heard.
constexpr Duration pull_min = std::chrono::milliseconds(100);
constexpr Duration pull_max = std::chrono::seconds(30);
/// What the server says at the end of a pull may come this much later.
constexpr Duration pull_grace = std::chrono::seconds(1);
/// A server that refuses a pull is not asked again at once.
constexpr Duration pull_pause = std::chrono::milliseconds(100);
/// The server looks for deliveries whose time is over a little later than that.
constexpr Duration takeover_grace = std::chrono::seconds(1);
/// For the last words of a source that is closed.
constexpr Duration farewell_limit = std::chrono::milliseconds(500);

tl::unexpected<Error> broken_connection() { return fail(Fault::unavailable, "the connection to NATS broke"); }

}  // namespace

struct NatsSource::State {
    /// A delivery that is ours until it is acknowledged or given back.
    struct Held {
        std::string reply;
        std::uint64_t sequence = 0;
        Instant told_at;  ///< When the server last heard that it is being worked on.
    };
    struct Waiting {
        Held held;
        bool redelivered = false;
        ReceivedMessage message;
    };

    State(NatsSourceOptions given, Clock& time) : options(std::move(given)), clock(&time) {}

    [[nodiscard]] Status connect(Deadline deadline);
    void absorb(const NatsMessage& message);
    void pull(std::size_t wanted, Deadline deadline);
    /// Says of everything that is held that it is being worked on, where it is time to.
    void keep_alive();
    [[nodiscard]] Instant keep_alive_at() const;
    /// When something is to be done though nothing has come.
    [[nodiscard]] Instant look_again_at(bool pulling) const;
    /// Whether the first of those that wait may be handed out.
    [[nodiscard]] bool is_next_free() const;
    [[nodiscard]] std::vector<Delivery> hand_out(std::size_t limit);
    /// Says this of deliveries, in order, and waits until the server has heard; those that it confirmed are taken out.
    void tell(std::string_view word, std::vector<std::string>& replies, Deadline deadline);
    [[nodiscard]] Status nak(std::vector<Held> given, Duration limit);

    NatsSourceOptions options;
    Clock* clock;
    std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();
    std::unique_ptr<Link> link;
    bool know_consumer = false;
    bool paused = false;
    std::map<DeliveryTag, Held> held;  ///< Handed out.
    std::deque<Waiting> waiting;       ///< Arrived, and not handed out; by sequence.
    // What a predecessor held when it died comes before newer ones, though the server has those at hand first.
    std::uint64_t inherited_to = 0;  ///< The last sequence that it can be.
    std::int64_t inherited = 0;      ///< How many are still to come.
    Instant inherited_until;         ///< Then whoever holds them is alive.
    DeliveryTag tags = 0;
    std::uint64_t requests = 0;
    std::size_t pull_left = 0;  ///< Messages that the server may still send of the last pull.
    Instant pull_over;          ///< When it has forgotten that.
    Instant pull_again;         ///< Not before.
};

Status NatsSource::State::connect(Deadline deadline) {
    if (link && !link->closed() && know_consumer) return {};
    if (!link || link->closed()) {
        // What came is kept. What was still on its way comes again later, and newer ones wait for it as for what a
        // predecessor held.
        for (const NatsMessage& one : mailbox->take_deliveries()) absorb(one);
        know_consumer = false;
        link.reset();
        pull_left = 0;
        link = SEMEL_TRY(Link::open(options.connection, mailbox, *clock, deadline));
    }
    if (know_consumer) return {};
    const DurableView view = SEMEL_TRY(find_or_make_durable(*link, options));
    inherited_to = view.newest;
    inherited = view.unacknowledged - static_cast<std::int64_t>(held.size() + waiting.size());
    inherited_until = clock->now() + options.ack_wait + takeover_grace;
    know_consumer = true;
    return {};
}

void NatsSource::State::absorb(const NatsMessage& message) {
    if (const int status = status_of(message); status != 0) {
        if (status == 100) return;
        pull_left = 0;
        if (status == 404 || status == 408) return;
        pull_again = clock->now() + pull_pause;
        // The consumer, or its server, went away: it is looked for again.
        know_consumer = false;
        return;
    }
    const char* reply = natsMsg_GetReply(message.get());
    const auto facts = delivery_facts(reply != nullptr ? reply : "");
    if (!facts) return;
    if (pull_left > 0) --pull_left;
    if (facts->sequence <= inherited_to) --inherited;
    const auto later =
        std::ranges::find_if(waiting, [&](const Waiting& one) { return one.held.sequence > facts->sequence; });
    waiting.insert(later, {.held = {.reply = reply, .sequence = facts->sequence, .told_at = clock->now()},
                           .redelivered = facts->times > 1,
                           .message = received_from(message, *facts)});
}

void NatsSource::State::pull(std::size_t wanted, Deadline deadline) {
    const Instant now = clock->now();
    if ((pull_left > 0 && now < pull_over) || now < pull_again) return;
    const std::size_t ours = held.size() + waiting.size();
    const std::size_t batch = std::min(wanted, options.prefetch - std::min(options.prefetch, ours));
    if (batch == 0) return;
    const Duration expires = std::clamp(deadline.remaining(now), pull_min, pull_max);
    const std::string request =
        "{\"batch\":" + std::to_string(batch) + ",\"expires\":" + std::to_string(expires.count()) + "}";
    const std::string subject = "$JS.API.CONSUMER.MSG.NEXT." + options.stream + "." + options.consumer;
    if (!link->request_deliveries(subject, request)) return;  // The mailbox will say that the connection is gone.
    pull_left = batch;
    pull_over = now + expires + pull_grace;
}

Instant NatsSource::State::keep_alive_at() const {
    Instant first = Instant::max();
    for (const auto& [tag, one] : held) first = std::min(first, one.told_at);
    for (const Waiting& one : waiting) first = std::min(first, one.held.told_at);
    return first == Instant::max() ? first : first + options.ack_wait / 3;
}

Instant NatsSource::State::look_again_at(bool pulling) const {
    Instant first = keep_alive_at();
    if (!pulling) return first;
    if (pull_left > 0) first = std::min(first, pull_over);
    if (clock->now() < pull_again) first = std::min(first, pull_again);
    if (!waiting.empty()) first = std::min(first, inherited_until);
    return first;
}

void NatsSource::State::keep_alive() {
    const Instant now = clock->now();
    const auto say = [&](Held& one) {
        if (now < one.told_at + options.ack_wait / 3) return;
        std::ignore = link->publish(one.reply, 0, {}, "+WPI");
        one.told_at = now;
    };
    for (auto& [tag, one] : held) say(one);
    for (Waiting& one : waiting) say(one.held);
}

bool NatsSource::State::is_next_free() const {
    if (waiting.empty()) return false;
    return inherited <= 0 || waiting.front().held.sequence <= inherited_to || clock->now() >= inherited_until;
}

std::vector<Delivery> NatsSource::State::hand_out(std::size_t limit) {
    std::vector<Delivery> deliveries;
    while (deliveries.size() < limit && is_next_free()) {
        Waiting one = std::move(waiting.front());
        waiting.pop_front();
        held.emplace(++tags, std::move(one.held));
        deliveries.push_back({.tag = tags, .redelivered = one.redelivered, .message = std::move(one.message)});
    }
    return deliveries;
}

void NatsSource::State::tell(std::string_view word, std::vector<std::string>& replies, Deadline deadline) {
    std::unordered_map<std::uint64_t, std::string> asked;
    for (std::string& reply : replies) {
        std::ignore = link->publish(reply, ++requests, {}, word);
        asked.emplace(requests, std::move(reply));
    }
    while (!asked.empty()) {
        const Mailbox::Next next = mailbox->next(Mailbox::Kind::answer, *clock, deadline.at());
        if (!next.message) break;
        if (!natsMsg_IsNoResponders(next.message.get())) asked.erase(answered_request(next.message));
    }
    replies.clear();
    for (auto& [number, reply] : asked) replies.push_back(std::move(reply));
}

Status NatsSource::State::nak(std::vector<Held> given, Duration limit) {
    // What stands behind them goes back as well, or it would come first.
    for (const NatsMessage& one : mailbox->take_deliveries()) absorb(one);
    for (Waiting& one : std::exchange(waiting, {})) given.push_back(std::move(one.held));
    std::ranges::sort(given, {}, &Held::sequence);
    if (!link || link->closed()) return broken_connection();
    std::vector<std::string> replies;
    for (Held& one : given) replies.push_back(std::move(one.reply));
    // Confirmed, or the next pull might be served before the server has put them back.
    tell("-NAK", replies, Deadline::after(clock->now(), limit));
    if (replies.empty()) return {};
    return fail(Fault::unknown, "NATS did not confirm that " + std::to_string(replies.size()) + " were given back");
}

NatsSource::NatsSource(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

NatsSource::~NatsSource() {
    State& state = *state_;
    if (!state.link || state.link->closed()) return;
    // First nobody listens any more: what is given back must not come here again.
    state.link->stop_deliveries();
    std::vector<State::Held> given;
    for (auto& [tag, one] : state.held) given.push_back(std::move(one));
    std::ignore = state.nak(std::move(given), farewell_limit);
}

Result<std::unique_ptr<NatsSource>> NatsSource::open(NatsSourceOptions options, Clock& clock) {
    SEMEL_TRY(check(options));
    auto state = std::make_unique<State>(std::move(options), clock);
    SEMEL_TRY(state->connect({}));
    return std::unique_ptr<NatsSource>(new NatsSource(std::move(state)));
}

Result<std::vector<Delivery>> NatsSource::receive(std::size_t limit, Deadline deadline) {
    State& state = *state_;
    SEMEL_TRY(state.connect(deadline));
    const std::size_t wanted = state.paused ? 0 : limit;
    while (true) {
        state.keep_alive();
        const bool something = wanted > 0 && state.is_next_free();
        if (wanted > 0 && !something) state.pull(wanted, deadline);
        // Whatever is there already is taken along.
        const Instant until = something ? Instant() : std::min(deadline.at(), state.look_again_at(wanted > 0));
        Mailbox::Next next = state.mailbox->next(Mailbox::Kind::delivery, *state.clock, until);
        if (next.message) {
            state.absorb(next.message);
            if (!state.know_consumer) SEMEL_TRY(state.connect(deadline));
            continue;
        }
        if (something || next.woken) return state.hand_out(wanted);
        if (next.closed) return broken_connection();
        if (deadline.passed(state.clock->now())) return std::vector<Delivery>();
    }
}

Status NatsSource::acknowledge(std::span<const DeliveryTag> tags) {
    State& state = *state_;
    std::vector<std::string> replies;
    std::size_t strangers = 0;
    for (const DeliveryTag tag : tags) {
        auto node = state.held.extract(tag);
        if (node.empty())
            ++strangers;
        else
            replies.push_back(std::move(node.mapped().reply));
    }
    const Deadline deadline = Deadline::after(state.clock->now(), state.options.acknowledge_limit);
    // Once more on a new connection: an acknowledgement is as good there.
    for (int attempt = 0; attempt < 2 && !replies.empty() && !deadline.passed(state.clock->now()); ++attempt)
        if (state.connect(deadline)) state.tell("+ACK", replies, deadline);
    if (replies.empty() && strangers == 0) return {};
    return fail(Fault::unknown,
                "NATS did not confirm " + std::to_string(replies.size() + strangers) + " acknowledgements");
}

Status NatsSource::give_back(std::span<const DeliveryTag> tags) {
    State& state = *state_;
    std::vector<State::Held> given;
    for (const DeliveryTag tag : tags)
        if (auto node = state.held.extract(tag); !node.empty()) given.push_back(std::move(node.mapped()));
    if (given.empty()) return {};
    return state.nak(std::move(given), state.options.acknowledge_limit);
}

void NatsSource::pause() { state_->paused = true; }
void NatsSource::resume() { state_->paused = false; }
void NatsSource::wake() { state_->mailbox->wake(); }

}  // namespace semel::nats
