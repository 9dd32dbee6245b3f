#include "semel/kafka/source.hpp"

#include "semel/kafka/encode.hpp"
#include "semel/kafka/group_member.hpp"
#include "semel/kafka/progress.hpp"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace semel::kafka {
namespace {

constexpr Duration patience_min = std::chrono::milliseconds(100);
/// So long nothing is asked of the client when nothing is wanted, before its partitions are paused. Short, for meanwhile it
/// hears nothing of the group either.
constexpr Duration look_away = std::chrono::milliseconds(500);

using detail::GroupMember;
using detail::Partition;

struct Assigned {
    PartitionProgress progress;
    bool rewind = false;  ///< Something was given back, and it must be read again.
};

/// Where a delivery came from.
struct Place {
    Partition partition;
    std::int64_t offset = 0;
};

}  // namespace

struct KafkaSource::State {
    [[nodiscard]] Status ensure_member();
    /// Nothing is wanted for now: waits, with what the client has fetched ahead left where it is. Pausing would throw it
    /// away. False: that has gone on for too long.
    [[nodiscard]] bool looked_away(Deadline deadline);
    /// Lets messages come, or not.
    void let_flow(bool wanted);
    void rewind();
    void take(const rd_kafka_message_s& message, std::vector<Delivery>& deliveries);
    void assigned_to_us(const std::vector<Partition>& some);
    void taken_from_us(const std::vector<Partition>& some);
    [[nodiscard]] std::vector<Partition> all_partitions() const;

    KafkaSourceOptions options;
    Clock* clock = nullptr;
    std::map<Partition, Assigned> partitions{};
    std::unordered_map<DeliveryTag, Place> held{};
    DeliveryTag tags = 0;
    bool paused = false;
    bool flowing = true;
    std::optional<Instant> look_again{};  ///< Since nothing is wanted: when it must be looked at the client again.
    std::atomic<bool> woken = false;
    std::mutex wake_mutex{};
    std::condition_variable_any woke{};
    /// Last, for it speaks to the rest until it has left the group. A wake may come from any thread at any time, so it is
    /// replaced only while nobody can look.
    std::mutex member_mutex{};
    std::unique_ptr<GroupMember> member{};
};

Status KafkaSource::State::ensure_member() {
    if (member && !member->stopped()) return {};
    std::unique_ptr<GroupMember> before;
    {
        const std::lock_guard guard(member_mutex);
        before.swap(member);
    }
    before.reset();
    taken_from_us(all_partitions());
    auto joined =
        SEMEL_TRY(GroupMember::join({.connection = options.connection,
                                     .topics = options.topics,
                                     .group = options.group,
                                     .patience = options.patience,
                                     .commit_interval = options.commit_interval},
                                    {.assigned = [this](const std::vector<Partition>& some) { assigned_to_us(some); },
                                     .revoked = [this](const std::vector<Partition>& some) { taken_from_us(some); }}));
    const std::lock_guard guard(member_mutex);
    member = std::move(joined);
    return {};
}

void KafkaSource::State::assigned_to_us(const std::vector<Partition>& some) {
    for (const Partition& one : some)
        partitions.insert_or_assign(one, Assigned{.progress = PartitionProgress(options.begun_max)});
    if (!flowing && member) member->pause(some);
}

void KafkaSource::State::taken_from_us(const std::vector<Partition>& some) {
    for (const Partition& one : some) partitions.erase(one);
    // Whoever has them now answers for them.
    std::erase_if(held, [&](const auto& entry) { return !partitions.contains(entry.second.partition); });
}

std::vector<Partition> KafkaSource::State::all_partitions() const {
    std::vector<Partition> all;
    for (const auto& [partition, assigned] : partitions) all.push_back(partition);
    return all;
}

bool KafkaSource::State::looked_away(Deadline deadline) {
    if (!flowing) return false;
    const Instant now = clock->now();
    if (!look_again) look_again = now + look_away;
    if (now >= *look_again) return false;
    const Instant until = std::min(deadline.at(), *look_again);
    std::unique_lock lock(wake_mutex);
    while (!woken.load() && clock->now() < until)
        if (clock->wait(lock, woke, until, {}) != Wake::notified) break;
    woken = false;
    return true;
}

void KafkaSource::State::let_flow(bool wanted) {
    if (wanted == flowing) return;
    flowing = wanted;
    if (!flowing) return member->pause(all_partitions());
    member->resume(all_partitions());
    // librdkafka resumes where the last message was taken, not where it was told to go back to.
    for (auto& [partition, assigned] : partitions) assigned.rewind = assigned.progress.rewind().has_value();
}

void KafkaSource::State::rewind() {
    for (auto& [partition, assigned] : partitions) {
        if (!assigned.rewind) continue;
        const auto offset = assigned.progress.rewind();
        // What cannot be done now, since the partition is only being started, is done next time.
        if (!offset || member->seek(partition, *offset)) assigned.rewind = false;
    }
}

void KafkaSource::State::take(const rd_kafka_message_s& message, std::vector<Delivery>& deliveries) {
    const RawMessage raw = detail::raw_message(message);
    const Partition partition(raw.topic, raw.partition);
    const auto found = partitions.find(partition);
    if (found == partitions.end()) return;
    PartitionProgress& progress = found->second.progress;
    const auto arrival = progress.arrived(raw.offset, member->end_of(partition));
    if (arrival == PartitionProgress::Arrival::ignored) return;
    if (!flowing) {
        // On its way when everything was stopped.
        progress.give_back(raw.offset);
        found->second.rewind = true;
        return;
    }
    held.emplace(++tags, Place{.partition = partition, .offset = raw.offset});
    deliveries.push_back(
        {.tag = tags, .redelivered = arrival == PartitionProgress::Arrival::begun, .message = received_from(raw)});
}

KafkaSource::KafkaSource(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
KafkaSource::~KafkaSource() = default;

Result<std::unique_ptr<KafkaSource>> KafkaSource::open(KafkaSourceOptions options, Clock& clock) {
    if (options.connection.brokers.empty()) return fail(Fault::rejected, "kafka: no broker is named");
    if (options.topics.empty()) return fail(Fault::rejected, "kafka: no topic is named");
    for (const std::string& topic : options.topics) SEMEL_TRY(check_topic(topic));
    if (options.group.empty()) return fail(Fault::rejected, "kafka: a source needs the name of its group");
    if (options.patience < patience_min || options.commit_interval <= Duration::zero())
        return fail(Fault::rejected, "kafka: patience is 100 ms or more, and commit_interval more than zero");
    auto state = std::make_unique<State>();
    state->options = std::move(options);
    state->clock = &clock;
    SEMEL_TRY(state->ensure_member());
    return std::unique_ptr<KafkaSource>(new KafkaSource(std::move(state)));
}

Result<std::vector<Delivery>> KafkaSource::receive(std::size_t limit, Deadline deadline) {
    State& state = *state_;
    SEMEL_TRY(state.ensure_member());
    const bool wanted = limit > 0 && !state.paused;
    if (wanted)
        state.look_again.reset();
    else if (state.looked_away(deadline))
        return std::vector<Delivery>();
    state.let_flow(wanted);
    if (state.flowing) state.rewind();
    std::vector<Delivery> deliveries;
    bool looked = false;
    while (deliveries.size() < std::max<std::size_t>(limit, 1) && !state.woken.load()) {
        const Duration left = deadline.remaining(state.clock->now());
        if (looked && deliveries.empty() && left == Duration::zero()) break;
        looked = true;
        const auto message = state.member->poll(deliveries.empty() ? left : Duration::zero());
        if (!message) {
            // What came before is worth more than the reason why nothing else does.
            if (deliveries.empty()) return fail(message.error());
            break;
        }
        if (*message)
            state.take(**message, deliveries);
        else if (!deliveries.empty())
            break;
    }
    state.woken = false;
    // Taken away while we were still collecting.
    std::erase_if(deliveries, [&](const Delivery& one) { return !state.held.contains(one.tag); });
    return deliveries;
}

Status KafkaSource::acknowledge(std::span<const DeliveryTag> tags) {
    std::map<Partition, std::int64_t> moved;
    for (const DeliveryTag tag : tags) {
        const auto found = state_->held.find(tag);
        if (found == state_->held.end()) continue;
        const auto& [partition, offset] = found->second;
        if (const auto position = state_->partitions.at(partition).progress.done(offset)) moved[partition] = *position;
        state_->held.erase(found);
    }
    if (!state_->member) return fail(Fault::unavailable, "kafka: there is no consumer to write positions down");
    return state_->member->store({moved.begin(), moved.end()});
}

Status KafkaSource::give_back(std::span<const DeliveryTag> tags) {
    for (const DeliveryTag tag : tags) {
        const auto found = state_->held.find(tag);
        if (found == state_->held.end()) continue;
        Assigned& assigned = state_->partitions.at(found->second.partition);
        assigned.progress.give_back(found->second.offset);
        assigned.rewind = true;
        state_->held.erase(found);
    }
    return {};
}

void KafkaSource::pause() { state_->paused = true; }
void KafkaSource::resume() { state_->paused = false; }

void KafkaSource::wake() {
    {
        const std::lock_guard guard(state_->wake_mutex);
        state_->woken = true;
    }
    state_->woke.notify_all();
    const std::lock_guard guard(state_->member_mutex);
    if (state_->member) state_->member->wake();
}

}  // namespace semel::kafka
