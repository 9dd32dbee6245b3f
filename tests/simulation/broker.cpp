#include "tests/simulation/broker.hpp"

#include "tests/simulation/shop.hpp"
#include "tests/simulation/world.hpp"

#include <algorithm>

namespace semel::simulation {
namespace {

Error said(Fault fault, std::string_view message) {
    Error error;
    error.fault = fault;
    error.message = message;
    return error;
}

}  // namespace

std::vector<Status> Broker::take(Process& process, std::span<const Message> messages, Deadline deadline) {
    std::vector<Status> answers;
    std::set<std::string> stopped;
    for (const Message& message : messages) {
        const std::string aggregate = message.tenant + "/" + message.aggregate.type + "/" + message.aggregate.id;
        if (stopped.contains(aggregate)) {
            answers.push_back(fail(behind_unacknowledged()));
            continue;
        }
        if (process.random().below(3) == 0) process.travel();
        if (process.killed() || deadline.passed(process.now()))
            answers.push_back(fail(said(Fault::unknown, "no answer in time")));
        else
            answers.push_back(take_one(process, message));
        if (!answers.back()) stopped.insert(aggregate);
    }
    return answers;
}

Status Broker::take_one(Process& process, const Message& message) {
    Troubles& troubles = world_->troubles();
    const std::string id = message.id.text();
    const Instant now = world_->scheduler().now();
    if (const auto [found, first] = refused_until_.try_emplace(id); first && troubles.strikes(Trouble::poison))
        found->second = now + std::chrono::seconds(process.random().below(600));
    if (refused_until_[id] > now && !troubles.stopped()) return fail(said(Fault::rejected, "malformed"));
    const bool lost = troubles.strikes(Trouble::broker_lost);
    if (!lost || process.random().below(2) == 0) {
        keep(message);
        if (troubles.strikes(Trouble::broker_twice)) keep(message);
    }
    if (lost) return fail(said(Fault::unknown, "the answer got lost"));
    acknowledged_.insert(id);
    return {};
}

void Broker::keep(const Message& message) {
    taken_.insert(message.id.text());
    world_->ledger().published(message);
    for (const std::string_view group : consumers)
        queues_[std::string(group)].push_back({.message = received_from(message, "money")});
    world_->scheduler().ring(Bell::broker);
}

void Broker::disconnect(std::string_view group, std::uint64_t connection) {
    for (Entry& entry : queues_[std::string(group)]) {
        if (entry.connection != connection) continue;
        entry.connection = 0;
        entry.redelivered = true;
        entry.unheard = false;
    }
}

std::vector<Delivery> Broker::deliver(Process& process, std::string_view group, std::uint64_t connection,
                                      std::size_t limit) {
    constexpr Duration heard_within = std::chrono::minutes(5);
    const Instant now = world_->scheduler().now();
    std::vector<Delivery> deliveries;
    std::set<std::string> blocked;  // Keys of which an earlier message must be first.
    for (Entry& entry : queues_[std::string(group)]) {
        if (entry.unheard && entry.delivered + heard_within < now) {
            entry.connection = 0;
            entry.redelivered = true;
            entry.unheard = false;
        }
        const std::string& key = entry.message.key;
        const bool ours = entry.connection == connection;
        if (ours || deliveries.size() >= limit) continue;
        if (entry.connection != 0 || blocked.contains(key) || process.random().below(4) == 0) {
            blocked.insert(key);
            continue;
        }
        entry.connection = connection;
        entry.delivered = now;
        entry.tag = ++tags_;
        deliveries.push_back({.tag = entry.tag, .redelivered = entry.redelivered, .message = entry.message});
    }
    return deliveries;
}

Status Broker::acknowledge(std::string_view group, std::span<const DeliveryTag> tags) {
    Troubles& troubles = world_->troubles();
    std::list<Entry>& queue = queues_[std::string(group)];
    const bool lost = troubles.strikes(Trouble::broker_lost);
    for (const DeliveryTag tag : tags) {
        const auto found = std::ranges::find(queue, tag, &Entry::tag);
        if (found == queue.end() || found->connection == 0) continue;
        if (lost)
            found->unheard = true;
        else
            queue.erase(found);
    }
    if (lost && (tags.empty() || tags.front() % 2 == 0))
        return fail(said(Fault::unavailable, "the acknowledgement was not taken"));
    return {};
}

void Broker::give_back(std::string_view group, std::span<const DeliveryTag> tags) {
    for (Entry& entry : queues_[std::string(group)]) {
        if (entry.connection == 0 || std::ranges::find(tags, entry.tag) == tags.end()) continue;
        entry.connection = 0;
        entry.redelivered = true;
    }
}

std::string Broker::unfinished() const {
    for (const auto& [group, queue] : queues_)
        if (!queue.empty()) return std::to_string(queue.size()) + " messages wait for " + group;
    return "";
}

std::vector<Status> BrokerSink::publish(std::span<const Message> messages, Deadline deadline) {
    const auto all = [&](const Error& error) { return std::vector<Status>(messages.size(), fail(Error(error))); };
    process_->travel();
    World& world = process_->world();
    if (process_->killed()) return all(said(Fault::unavailable, "the process is dead"));
    if (world.troubles().strikes(Trouble::broker_away)) return all(said(Fault::unavailable, "the broker is away"));
    if (world.troubles().strikes(Trouble::broker_slow)) {
        if (process_->random().below(2) == 0) {
            Error error = said(Fault::throttled, "less, please");
            error.cause.retry_after = std::chrono::seconds(1);
            return all(error);
        }
        process_->pause(std::chrono::milliseconds(process_->random().below(15'000)));
    }
    std::vector<Status> answers = world.broker().take(*process_, messages, deadline);
    // Machines are put to sleep with everything that runs on them; after a refusal it matters most.
    const bool refused = !std::ranges::all_of(answers, [](const Status& one) { return one.has_value(); });
    if (world.troubles().strikes(Trouble::stall) || (refused && world.troubles().strikes(Trouble::poison)))
        process_->pause(std::chrono::seconds(process_->random().below(120)));
    if (!process_->killed()) process_->travel();
    return answers;
}

BrokerSource::BrokerSource(Process& process, std::string group)
    : process_(&process), group_(std::move(group)), connection_(process.world().broker().connect()) {}

BrokerSource::~BrokerSource() { process_->world().broker().disconnect(group_, connection_); }

Result<std::vector<Delivery>> BrokerSource::receive(std::size_t limit, Deadline) {
    process_->travel();
    if (process_->killed()) return fail(said(Fault::unavailable, "the process is dead"));
    if (process_->world().troubles().strikes(Trouble::broker_away))
        return fail(said(Fault::unavailable, "the broker is away"));
    if (paused_) return std::vector<Delivery>();
    if (process_->world().troubles().strikes(Trouble::broker_twice))
        process_->world().broker().disconnect(group_, connection_);  // All that is under way comes once more.
    return process_->world().broker().deliver(*process_, group_, connection_, limit);
}

Status BrokerSource::acknowledge(std::span<const DeliveryTag> tags) {
    process_->travel();
    if (process_->killed()) return fail(said(Fault::unavailable, "the process is dead"));
    return process_->world().broker().acknowledge(group_, tags);
}

Status BrokerSource::give_back(std::span<const DeliveryTag> tags) {
    process_->travel();
    if (process_->killed()) return fail(said(Fault::unavailable, "the process is dead"));
    process_->world().broker().give_back(group_, tags);
    return {};
}

}  // namespace semel::simulation
