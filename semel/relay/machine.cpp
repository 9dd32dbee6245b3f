#include "semel/relay/machine.hpp"

#include "semel/base/mutant.hpp"
#include "semel/sink/sink.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace semel {
namespace {

using namespace relay_action;

/// Past this many doublings every delay is the cap; more attempts need not be counted out.
constexpr std::int32_t doublings_max = 40;
/// A relay that has fewer partitions than its share looks again soon: others are about to give theirs back.
constexpr Duration take_again_after = std::chrono::seconds(1);

/// Whether the other side is there and this one event is at fault.
bool is_poison(Fault fault) noexcept {
    return fault == Fault::rejected || fault == Fault::conflict || fault == Fault::broken;
}

/// Whether an answer shows that the other side is there. Who refuses for good has not asked it.
bool comes_from_sink(const Status& answer) noexcept {
    return answer || (is_poison(answer.error().fault) && !is_final(answer.error()));
}

/// A lease by which two of the same partition differ.
std::pair<std::int32_t, std::int64_t> key(const HeldPartition& held) noexcept { return {held.partition, held.epoch}; }

Error unanswered() {
    Error error;
    error.fault = Fault::unknown;
    error.message = "the sink gave no answer";
    return error;
}

}  // namespace

RelayMachine::RelayMachine(RelayRules rules, Random& random)
    : rules_(std::move(rules)), random_(&random), breaker_(rules_.breaker) {
    SEMEL_ASSERT(check(rules_));
}

RelayAction RelayMachine::next(Instant now) {
    if (left_) return Finished{};
    if (now < database_due_) return Wait{.until = database_due_};
    // First of all: until it is written down, what was acknowledged would be read and sent again.
    if (!settlement_.empty()) return Settle{};
    if (draining_) {
        drop_batch();
        return Leave{};
    }
    if (now >= tend_due_) return Tend{};
    if (held_.empty()) return Wait{.until = tend_due_};
    return batch_.empty() ? read_next(now) : publish(now);
}

RelayAction RelayMachine::publish(Instant now) {
    // Read under leases that may have ended meanwhile: someone else may be publishing these.
    if (now >= held_until_) {
        drop_batch();
        return Tend{};
    }
    permit_ = breaker_.acquire(now);
    if (!permit_) {
        drop_batch();
        sink_due_ = now + breaker_.admits_in(now);
        return Wait{.until = std::min(sink_due_, tend_due_)};
    }
    return Publish{.deadline = Deadline::at(std::min(now + rules_.publish_limit, held_until_))};
}

RelayAction RelayMachine::read_next(Instant now) {
    if (now >= held_until_) return Tend{};
    if (const Duration closed = breaker_.admits_in(now); closed > Duration::zero())
        sink_due_ = std::max(sink_due_, now + closed);
    if (now < sink_due_) return Wait{.until = std::min(sink_due_, tend_due_)};
    if (!rung_ && now < read_due_) return Wait{.until = std::min(read_due_, tend_due_), .for_bell = true};
    rung_ = false;
    ReadPending action;
    // In turns: one read of all partitions, so that none waits behind a crowded one; one of the crowded alone.
    for (const HeldPartition& one : held_)
        if (crowded_.empty() || std::ranges::find(crowded_, one.partition) != crowded_.end())
            action.partitions.push_back(one);
    if (action.partitions.empty()) action.partitions = held_;
    const bool focused = !crowded_.empty() && action.partitions.size() < held_.size();
    crowded_.clear();
    action.each = (rules_.batch + action.partitions.size() - 1) / action.partitions.size();
    each_ = action.each;
    asked_.clear();
    if (!focused)
        for (const HeldPartition& one : action.partitions) asked_.push_back(one.partition);
    return action;
}

void RelayMachine::database_failed(Instant now) {
    database_due_ = now + database_backoff_.next(rules_.backoff, false, *random_);
    // What could not be read is asked for again, whoever rang.
    read_due_ = now;
}

void RelayMachine::tended(Instant begun, std::vector<HeldPartition> held, std::size_t share, Instant now) {
    database_backoff_ = {};
    std::ranges::sort(held, {}, &HeldPartition::partition);
    // One that was lost and taken again is another: what was read in it may have left meanwhile.
    const bool kept = std::ranges::includes(held, held_, {}, key, key);
    if (!kept) drop_batch();
    held_ = std::move(held);
    // The database counts from a later moment; a tenth of the lease is for clocks that do not run alike.
    held_until_ = begun + rules_.lease * 9 / 10;
    const Duration pause = rules_.lease / 3;
    tend_due_ = begun + (held_.size() < share ? std::min(pause, take_again_after) : pause);
    tend_due_ = std::max(tend_due_, now + std::chrono::milliseconds(1));
    read_due_ = std::min(read_due_, now);
}

std::optional<HeldPartition> RelayMachine::holding(std::int32_t partition) const {
    const auto found = std::ranges::lower_bound(held_, partition, {}, &HeldPartition::partition);
    if (found == held_.end() || found->partition != partition) return std::nullopt;
    return *found;
}

void RelayMachine::drop_batch() noexcept {
    batch_.clear();
    messages_.clear();
}

void RelayMachine::read(std::vector<PendingEvent> events, std::vector<Message> messages, Instant now) {
    SEMEL_ASSERT(events.size() == messages.size());
    database_backoff_ = {};
    std::map<std::int32_t, std::size_t> counts;
    for (const PendingEvent& one : events) ++counts[one.row.partition];
    bool more = false;
    for (const auto& [partition, count] : counts) {
        if (count < each_) continue;
        more = true;
        if (std::ranges::find(asked_, partition) != asked_.end()) crowded_.push_back(partition);
    }
    // Of many partitions a little each may be too much together. What comes first in position comes first in its
    // partition as well, so the rest can be read again.
    if (events.size() > rules_.batch) {
        more = true;
        events.resize(rules_.batch);
    }
    read_due_ = more ? now : now + rules_.poll;
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].behind_parked) {
            park_behind(events[i]);
            continue;
        }
        batch_.push_back(events[i]);
        messages_.push_back(std::move(messages[i]));
    }
}

void RelayMachine::published(std::span<const Status> answers, Instant now) {
    const auto answer = [&](std::size_t i) -> Status { return i < answers.size() ? answers[i] : fail(unanswered()); };
    std::optional<Error> away;
    bool sink_is_there = false;
    std::set<std::int64_t>
        unasked;  // Aggregates of which the sink was not asked beyond an event: they say nothing of it.
    for (std::size_t i = 0; i < batch_.size(); ++i) {
        const Status one = answer(i);
        sink_is_there = sink_is_there || comes_from_sink(one);
        if (one || unasked.contains(batch_[i].aggregate)) continue;
        if (is_final(one.error())) unasked.insert(batch_[i].aggregate);
        if (!is_poison(one.error().fault) && (!away || one.error().fault == Fault::throttled)) away = one.error();
    }
    std::set<std::int64_t> stopped;
    parked_.clear();
    for (std::size_t i = 0; i < batch_.size(); ++i) {
        const PendingEvent& event = batch_[i];
        if (const Status one = answer(i);
            one || (SEMEL_MUTANT("unknown_is_acknowledged") && one.error().fault == Fault::unknown))
            settlement_.acknowledged.push_back(event.row);
        else if (stopped.insert(event.aggregate).second)
            refused(event, messages_[i].aggregate.type, one.error(), sink_is_there);
        else if (parked_.contains(event.aggregate))
            park_behind(event);
    }
    drop_batch();
    // What was held back behind an event that is skipped can be sent as soon as that is written down.
    if (std::ranges::any_of(settlement_.parked, [](const Parking& one) { return !one.blocks; }))
        read_due_ = std::min(read_due_, now);
    if (sink_is_there)
        permit_.succeeded();
    else if (away)
        permit_.failed(*away, now);
    permit_ = {};
    if (away && (!sink_is_there || away->fault == Fault::throttled))
        sink_failed(*away, now);
    else if (sink_is_there)
        sink_backoff_ = {};
}

void RelayMachine::refused(const PendingEvent& event, std::string_view type, const Error& error, bool sink_is_there) {
    if (!is_poison(error.fault)) {
        // A sink that takes nothing at all is waited for; no row need be written for that.
        if (sink_is_there && error.fault != Fault::throttled) add_failure(event, error);
        if (!sink_is_there && error.fault == Fault::unknown) add_failure(event, error);
        return;
    }
    const Poison poison = rules_.poison_for(type);
    // What will not end otherwise is not tried again, and its aggregate waits behind it unless it may be skipped.
    if (!is_final(error) && (poison == Poison::block || event.attempts + 1 < rules_.attempts_max))
        return add_failure(event, error);
    const bool blocks = poison != Poison::skip;
    park(event, event.attempts + 1, (blocks ? "" : "skipped: ") + error.describe(), blocks);
    if (blocks) parked_.insert(event.aggregate);
}

void RelayMachine::add_failure(const PendingEvent& event, const Error& error) {
    const auto under = holding(event.row.partition);
    if (!under) return;
    const std::int32_t attempts = event.attempts + 1;
    Duration delay = delay_of(attempts, error.fault == Fault::throttled);
    if (error.cause.retry_after) delay = std::max(delay, std::min(*error.cause.retry_after, rules_.backoff.cap));
    settlement_.failures.push_back(
        {.row = event.row, .under = *under, .attempts = attempts, .delay = delay, .reason = error.describe()});
}

void RelayMachine::park(const PendingEvent& event, std::int32_t attempts, std::string reason, bool blocks) {
    if (const auto under = holding(event.row.partition))
        settlement_.parked.push_back(
            {.row = event.row, .under = *under, .attempts = attempts, .blocks = blocks, .reason = std::move(reason)});
}

void RelayMachine::park_behind(const PendingEvent& event) {
    if (const auto under = holding(event.row.partition))
        settlement_.parked.push_back({.row = event.row,
                                      .under = *under,
                                      .attempts = event.attempts,
                                      .blocks = true,
                                      .follows = true,
                                      .reason = "follows a parked event of its aggregate"});
}

void RelayMachine::sink_failed(const Error& error, Instant now) {
    Duration delay = sink_backoff_.next(rules_.backoff, error.fault == Fault::throttled, *random_);
    if (error.cause.retry_after) delay = std::max(delay, std::min(*error.cause.retry_after, rules_.backoff.cap));
    sink_due_ = now + delay;
    read_due_ = now;
}

Duration RelayMachine::delay_of(std::int32_t attempts, bool throttled) {
    Backoff backoff;
    Duration delay{};
    for (std::int32_t n = 0; n < std::min(attempts, doublings_max); ++n)
        delay = backoff.next(rules_.backoff, throttled, *random_);
    return delay;
}

void RelayMachine::settled() {
    database_backoff_ = {};
    settlement_ = {};
}

void RelayMachine::left() { left_ = true; }

}  // namespace semel
