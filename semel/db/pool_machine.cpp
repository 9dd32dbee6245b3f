#include "semel/db/pool_machine.hpp"

#include <algorithm>
#include <iterator>

namespace semel {

PoolMachine::PoolMachine(const PoolLimits& limits, Random& random)
    : limits_(limits), random_(&random), entries_(limits.size) {
    idle_.reserve(limits.size);
    for (Slot slot = limits.size; slot > 0; --slot) empty_.push_back(slot - 1);
}

PoolMachine::Duty PoolMachine::duty_of(const Entry& entry, Instant now) const noexcept {
    if (!entry.connected || now >= entry.expires) return Duty::connect;
    return now - entry.since >= limits_.check_after_idle ? Duty::check : Duty::use;
}

std::optional<PoolMachine::Assignment> PoolMachine::acquire(Instant now, std::source_location place,
                                                            std::optional<Slot> preferred) {
    if (!queue_.empty()) return std::nullopt;  // Whoever waits came first.
    const auto slot = take_free(now, preferred);
    if (!slot) return std::nullopt;
    const Duty duty = duty_of(entries_[*slot], now);
    ++in_use_;
    entries_[*slot].state = State::in_use;
    hold(*slot, now, place);
    return Assignment{*slot, duty};
}

std::optional<PoolMachine::Slot> PoolMachine::take_free(Instant now, std::optional<Slot> preferred) {
    // One that would have to be checked first costs a round trip more than any other gains.
    if (preferred && *preferred < entries_.size() && entries_[*preferred].state == State::idle &&
        duty_of(entries_[*preferred], now) == Duty::use) {
        // From the top, where those are that came back lately.
        const auto found = std::find(idle_.rbegin(), idle_.rend(), *preferred);
        SEMEL_ASSERT(found != idle_.rend());
        idle_.erase(std::next(found).base());
        return preferred;
    }
    auto& from = idle_.empty() ? empty_ : idle_;
    if (from.empty()) return std::nullopt;
    const Slot slot = from.back();
    from.pop_back();
    return slot;
}

std::optional<PoolMachine::Ticket> PoolMachine::enqueue() {
    if (queue_.size() >= limits_.queue) return std::nullopt;
    queue_.push_back(next_ticket_);
    return next_ticket_++;
}

bool PoolMachine::leave_queue(Ticket ticket) {
    const auto found = std::ranges::find(queue_, ticket);
    if (found == queue_.end()) return false;
    queue_.erase(found);
    return true;
}

void PoolMachine::connected(Slot slot, Instant now) {
    Entry& entry = entries_[slot];
    SEMEL_ASSERT(entry.state == State::in_use);
    // Sessions opened together must not all be replaced together.
    const auto jitter = static_cast<std::uint64_t>(limits_.lifetime.count() / 40);
    entry.connected = true;
    entry.expires = now + limits_.lifetime - Duration(static_cast<std::int64_t>(random_->below(jitter + 1)));
}

PoolMachine::Release PoolMachine::release(Slot slot, bool usable, Instant now) {
    Entry& entry = entries_[slot];
    SEMEL_ASSERT(entry.state == State::in_use && "a session came back twice");
    Release result;
    if (!usable || !entry.connected || now >= entry.expires) {
        result.close = entry.connected;
        entry.connected = false;
    }
    entry.since = now;
    if (!queue_.empty()) {
        result.next = queue_.front();
        queue_.pop_front();
        result.assignment = {slot, duty_of(entry, now)};
        return result;  // Stays in use: it has only changed hands.
    }
    --in_use_;
    entry.state = entry.connected ? State::idle : State::empty;
    (entry.connected ? idle_ : empty_).push_back(slot);
    return result;
}

void PoolMachine::hold(Slot slot, Instant now, std::source_location place) {
    Entry& entry = entries_[slot];
    SEMEL_ASSERT(entry.state == State::in_use);
    entry.since = now;
    entry.place = place;
}

std::optional<PoolMachine::Held> PoolMachine::held(Slot slot, Instant now) const {
    const Entry& entry = entries_[slot];
    if (entry.state != State::in_use) return std::nullopt;
    return Held{now - entry.since, entry.place};
}

std::optional<PoolMachine::Held> PoolMachine::held_longest(Instant now) const {
    std::optional<Held> longest;
    for (Slot slot = 0; slot < entries_.size(); ++slot) {
        const auto candidate = held(slot, now);
        if (candidate && (!longest || candidate->since > longest->since)) longest = candidate;
    }
    return longest;
}

std::size_t PoolMachine::open() const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(entries_, [](const Entry& entry) { return entry.connected; }));
}

}  // namespace semel
