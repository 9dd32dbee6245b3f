#include "semel/nats/mailbox.hpp"

#include <nats/nats.h>

#include <utility>

namespace semel::nats {

void DestroyNatsMessage::operator()(natsMsg* message) const noexcept { natsMsg_Destroy(message); }

std::uint64_t Mailbox::begin() {
    const std::lock_guard guard(mutex_);
    answers_.clear();
    deliveries_.clear();
    closed_ = false;
    return ++connection_;
}

void Mailbox::put(std::uint64_t connection, Kind kind, NatsMessage message) {
    {
        const std::lock_guard guard(mutex_);
        if (connection != connection_) return;
        (kind == Kind::answer ? answers_ : deliveries_).push_back(std::move(message));
    }
    changed_.notify_all();
}

void Mailbox::close(std::uint64_t connection) {
    {
        const std::lock_guard guard(mutex_);
        if (connection != connection_) return;
        closed_ = true;
    }
    changed_.notify_all();
}

void Mailbox::wake() {
    {
        const std::lock_guard guard(mutex_);
        woken_ = true;
    }
    changed_.notify_all();
}

std::deque<NatsMessage> Mailbox::take_deliveries() {
    const std::lock_guard guard(mutex_);
    return std::exchange(deliveries_, {});
}

Mailbox::Next Mailbox::next(Kind kind, Clock& clock, Instant until) {
    std::unique_lock lock(mutex_);
    std::deque<NatsMessage>& mail = kind == Kind::answer ? answers_ : deliveries_;
    const bool wakeable = kind == Kind::delivery;
    while (mail.empty() && !closed_ && !(wakeable && woken_))
        if (clock.wait(lock, changed_, until, {}) != Wake::notified) break;
    if (wakeable && std::exchange(woken_, false)) return {.message = {}, .woken = true};
    if (mail.empty()) return {.message = {}, .closed = closed_};
    Next next{.message = std::move(mail.front())};
    mail.pop_front();
    return next;
}

}  // namespace semel::nats
