#include "semel/consumer/machine.hpp"

#include "semel/base/mutant.hpp"

#include <algorithm>
#include <utility>

namespace semel {

ConsumerAction ConsumerMachine::next(Instant now) {
    if (!done_.empty()) return consumer_action::Acknowledge{std::exchange(done_, {})};
    if (draining_) return leave(now);
    if (const bool wanted = wants_pause(now); wanted != paused_) {
        paused_ = wanted;
        if (wanted) return consumer_action::Pause{};
        return consumer_action::Resume{};
    }
    if (auto action = work(now)) return *std::move(action);
    return receive(now);
}

bool ConsumerMachine::wants_pause(Instant now) const noexcept {
    if (probing_ || suspended(now)) return true;
    return paused_ ? held_.size() > rules_.held_max / 2 : held_.size() >= rules_.held_max;
}

std::optional<ConsumerAction> ConsumerMachine::work(Instant now) {
    while (!delayed_.empty() && delayed_.begin()->first <= now) {
        ready_.push_back(delayed_.begin()->second);
        delayed_.erase(delayed_.begin());
    }
    if (suspended(now) || working_ >= workers_now()) return std::nullopt;
    const auto fit =
        std::ranges::find_if(ready_, [this](DeliveryTag tag) { return suspects_ == 0 || !is_suspect(held_.at(tag)); });
    if (fit == ready_.end()) return std::nullopt;
    const DeliveryTag tag = *fit;
    ready_.erase(fit);
    return begin(tag);
}

ConsumerAction ConsumerMachine::begin(DeliveryTag tag) {
    Held& held = held_.at(tag);
    held.working = true;
    ++working_;
    if (held.park) return consumer_action::Park{.tag = tag, .attempts = held.attempts, .reason = held.last_error};
    if (is_suspect(held)) ++suspects_;
    ++held.attempts;
    return consumer_action::Handle{
        .tag = tag, .attempt = held.attempts, .count = held.delivery.redelivered || held.attempts > 1};
}

ConsumerAction ConsumerMachine::receive(Instant now) const {
    Instant until = now + rules_.poll;
    if (!delayed_.empty()) until = std::min(until, delayed_.begin()->first);
    if (suspended(now)) until = std::min(until, suspended_until_);
    const bool away = now < receive_due_;
    if (away) until = std::min(until, receive_due_);
    return consumer_action::Receive{
        .limit = paused_ ? 0 : rules_.held_max - held_.size(), .until = until, .source_away = away};
}

ConsumerAction ConsumerMachine::leave(Instant now) {
    std::vector<DeliveryTag> rest;
    for (const auto& [tag, held] : held_)
        if (!held.working) rest.push_back(tag);
    if (!rest.empty()) {
        for (const DeliveryTag tag : rest) held_.erase(tag);
        ready_.clear();
        delayed_.clear();
        std::ranges::sort(rest);
        return consumer_action::GiveBack{std::move(rest)};
    }
    if (working_ > 0) return consumer_action::Receive{.limit = 0, .until = now + rules_.poll};
    return consumer_action::Finished{};
}

void ConsumerMachine::received(std::vector<Delivery> deliveries) {
    source_away_ = {};
    for (Delivery& one : deliveries) {
        const DeliveryTag tag = one.tag;
        // Without a key only repeats of itself must wait for it.
        std::string lane = one.message.key.empty() ? "id " + one.message.id : "key " + one.message.key;
        std::deque<DeliveryTag>& queue = lanes_[lane];
        queue.push_back(tag);
        if (SEMEL_MUTANT("offset_before_database")) done_.push_back(tag);
        if (queue.size() == 1) ready_.push_back(tag);
        const bool added = held_.emplace(tag, Held{.delivery = std::move(one), .lane = std::move(lane)}).second;
        SEMEL_ASSERT(added && "a source gives each delivery a tag of its own");
    }
}

void ConsumerMachine::receive_failed(Instant now) {
    receive_due_ = now + source_away_.next(rules_.backoff, false, *random_);
}

void ConsumerMachine::worked(DeliveryTag tag, const Attempted& attempted, Instant now) {
    Held& held = held_.at(tag);
    SEMEL_ASSERT(held.working);
    if (is_suspect(held)) --suspects_;
    held.working = false;
    --working_;
    // Whatever it was, the database answered, unless it is said otherwise.
    if (attempted.end != Attempted::End::failed || !stops_everything(attempted.error)) {
        probing_ = false;
        away_ = {};
    }
    if (attempted.end == Attempted::End::done) return finish(tag);
    if (attempted.attempts > 0 && !held.park) held.attempts = attempted.attempts;
    if (attempted.end == Attempted::End::failed) return failed(held, attempted, now);
    held.park = true;
    held.last_error = attempted.error.describe();
    ready_.push_back(tag);
}

void ConsumerMachine::failed(Held& held, const Attempted& attempted, Instant now) {
    const DeliveryTag tag = held.delivery.tag;
    if (stops_everything(attempted.error)) suspend(attempted.error, now);
    if (held.park) {
        // What cannot be parked for now is parked later; it is not handled again.
        delayed_.emplace(now + held.backoff.next(rules_.backoff, false, *random_), tag);
        return;
    }
    if (!blames_message(attempted.error)) {
        // Whoever counted it has taken that back, or says by `attempts` that it could not.
        if (attempted.attempts == 0) --held.attempts;
    } else {
        held.last_error = attempted.error.describe();
        if (held.attempts >= rules_.attempts_max) {
            held.park = true;
            ready_.push_back(tag);
            return;
        }
    }
    delayed_.emplace(now + held.backoff.next(rules_.backoff, false, *random_), tag);
}

void ConsumerMachine::suspend(const Error& error, Instant now) {
    // Those who were under way together fail together: that is one failure, not as many as there are workers.
    if (suspended(now)) return;
    const Duration own = away_.next(rules_.backoff, error.fault == Fault::throttled, *random_);
    const Duration asked = std::min(error.cause.retry_after.value_or(Duration::zero()), rules_.backoff.cap);
    suspended_until_ = now + std::max(own, asked);
    probing_ = true;
}

void ConsumerMachine::finish(DeliveryTag tag) {
    const auto found = held_.find(tag);
    const auto lane = lanes_.find(found->second.lane);
    SEMEL_ASSERT(lane->second.front() == tag);
    lane->second.pop_front();
    if (lane->second.empty())
        lanes_.erase(lane);
    else if (!draining_)
        ready_.push_back(lane->second.front());
    held_.erase(found);
    done_.push_back(tag);
}

}  // namespace semel
