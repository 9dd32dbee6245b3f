#include "semel/testing/scripted_source.hpp"

#include <algorithm>
#include <utility>

namespace semel::testing {

void ScriptedSource::play(const Mischief& mischief) {
    const std::lock_guard guard(mutex_);
    mischief_ = mischief;
}

void ScriptedSource::be_away(bool away) {
    const std::lock_guard guard(mutex_);
    away_ = away;
}

void ScriptedSource::send(ReceivedMessage message) {
    {
        const std::lock_guard guard(mutex_);
        queue_.push_back({.message = std::move(message), .place = ++places_});
    }
    changed_.notify_all();
}

void ScriptedSource::put_back(Entry entry) {
    entry.redelivered = true;
    const auto later = std::ranges::find_if(queue_, [&](const Entry& one) { return one.place > entry.place; });
    queue_.insert(later, std::move(entry));
}

void ScriptedSource::disconnect() {
    {
        const std::lock_guard guard(mutex_);
        for (auto& [tag, entry] : std::exchange(delivered_, {})) put_back(std::move(entry));
        for (Entry& entry : std::exchange(unheard_, {})) put_back(std::move(entry));
        paused_ = false;
    }
    changed_.notify_all();
}

Result<std::vector<Delivery>> ScriptedSource::receive(std::size_t limit, Deadline deadline) {
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return away_ || woken_ || (limit > 0 && !paused_ && !queue_.empty()); };
    while (!ready())
        if (clock_->wait(lock, changed_, deadline.at(), {}) != Wake::notified) break;
    woken_ = false;
    if (away_) return fail(Fault::unavailable, "the broker is away");
    std::vector<Delivery> deliveries;
    while (!paused_ && deliveries.size() < limit && !queue_.empty()) take(deliveries);
    return deliveries;
}

std::list<ScriptedSource::Entry>::iterator ScriptedSource::pick() {
    if (!mischief_.shuffle) return queue_.begin();
    const auto any = std::next(queue_.begin(), static_cast<std::ptrdiff_t>(random_.below(queue_.size())));
    // The first of that key.
    return std::ranges::find_if(queue_, [&](const Entry& one) { return one.message.key == any->message.key; });
}

void ScriptedSource::take(std::vector<Delivery>& deliveries) {
    const auto chosen = pick();
    Entry entry = std::move(*chosen);
    if (chance(mischief_.duplicate))
        *chosen = Entry{.message = entry.message, .place = entry.place, .redelivered = entry.redelivered};
    else
        queue_.erase(chosen);
    const DeliveryTag tag = ++tags_;
    deliveries.push_back({.tag = tag, .redelivered = entry.redelivered, .message = entry.message});
    delivered_.emplace(tag, std::move(entry));
}

Status ScriptedSource::acknowledge(std::span<const DeliveryTag> tags) {
    const std::lock_guard guard(mutex_);
    Status answer;
    for (const DeliveryTag tag : tags) {
        auto found = delivered_.extract(tag);
        if (found.empty()) {
            answer = fail(Fault::unknown, "the broker knows no such delivery");
        } else if (chance(mischief_.lose_acknowledgement)) {
            unheard_.push_back(std::move(found.mapped()));
        } else if (chance(mischief_.refuse_acknowledgement)) {
            unheard_.push_back(std::move(found.mapped()));
            answer = fail(Fault::unknown, "the acknowledgement got lost");
        }
    }
    return answer;
}

Status ScriptedSource::give_back(std::span<const DeliveryTag> tags) {
    const std::lock_guard guard(mutex_);
    for (const DeliveryTag tag : tags)
        if (auto found = delivered_.extract(tag); !found.empty()) put_back(std::move(found.mapped()));
    return {};
}

void ScriptedSource::pause() {
    const std::lock_guard guard(mutex_);
    paused_ = true;
}

void ScriptedSource::resume() {
    {
        const std::lock_guard guard(mutex_);
        paused_ = false;
    }
    changed_.notify_all();
}

void ScriptedSource::wake() {
    {
        const std::lock_guard guard(mutex_);
        woken_ = true;
    }
    changed_.notify_all();
}

std::size_t ScriptedSource::waiting() const {
    const std::lock_guard guard(mutex_);
    return queue_.size();
}

std::size_t ScriptedSource::unacknowledged() const {
    const std::lock_guard guard(mutex_);
    return delivered_.size() + unheard_.size();
}

bool ScriptedSource::paused() const {
    const std::lock_guard guard(mutex_);
    return paused_;
}

std::uint64_t ScriptedSource::delivered() const {
    const std::lock_guard guard(mutex_);
    return tags_;
}

}  // namespace semel::testing
