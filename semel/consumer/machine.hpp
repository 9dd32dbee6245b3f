#pragma once

#include "semel/base/random.hpp"
#include "semel/consumer/rules.hpp"
#include "semel/retry/backoff.hpp"
#include "semel/source/source.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace semel {

/// What a consumer does next.
namespace consumer_action {

/// Handle this message. Tell how it went by `worked`; others may be handled meanwhile.
struct Handle {
    DeliveryTag tag = 0;
    std::int32_t attempt = 1;  ///< As far as is known here; the database may know of more.
    bool count = false;        ///< Count it as begun, before it begins.
};
/// Set it aside. Tell how it went by `worked`.
struct Park {
    DeliveryTag tag = 0;
    std::int32_t attempts = 0;
    std::string reason;
};
struct Acknowledge {
    std::vector<DeliveryTag> tags;
};
struct GiveBack {
    std::vector<DeliveryTag> tags;
};
struct Pause {};
struct Resume {};
/// Ask the source for so many, until then, or until something was worked.
struct Receive {
    std::size_t limit = 0;
    Instant until;
    bool source_away = false;  ///< It failed just now: wait without asking it.
};
/// Everything that was begun has ended.
struct Finished {};

}  // namespace consumer_action

using ConsumerAction = std::variant<consumer_action::Handle, consumer_action::Park, consumer_action::Acknowledge,
                                    consumer_action::GiveBack, consumer_action::Pause, consumer_action::Resume,
                                    consumer_action::Receive, consumer_action::Finished>;

/// How an attempt ended.
struct Attempted {
    enum class End : std::uint8_t {
        done,       ///< Processed, found to have been, or parked: it can be acknowledged.
        exhausted,  ///< It was begun too often before; nothing was done.
        failed,     ///< `error` says why.
    };
    End end = End::done;
    std::int32_t attempts = 0;  ///< That count, as the database knows them; 0: it was not asked.
    Error error{};
};

/// Decides what a consumer does; talks to nobody and reads no clock. Whoever runs it asks `next`, does that, and tells how
/// it went. One thread at a time.
///
/// Whatever happens: messages of one key are handled one after the other in the order of their arrival, and one that failed
/// holds back the later ones of its key until it is done or parked; nothing is acknowledged that is not done or parked;
/// no more than `held_max` are held and no more than `workers` are handled at once. Of those that were delivered before, one
/// at a time is handled, so that one which kills the process does not make its neighbours look guilty.
class ConsumerMachine {
public:
    /// `rules` must have passed `check`.
    ConsumerMachine(const ConsumerRules& rules, Random& random) : rules_(rules), random_(&random) {}

    [[nodiscard]] ConsumerAction next(Instant now);

    void received(std::vector<Delivery> deliveries);
    void receive_failed(Instant now);
    void worked(DeliveryTag tag, const Attempted& attempted, Instant now);

    /// Receive nothing more, finish what was begun, give the rest back, stop.
    void drain() noexcept { draining_ = true; }

    /// Of a message that is held. Stays where it is until the message is acknowledged or given back.
    [[nodiscard]] const Delivery& delivery(DeliveryTag tag) const { return held_.at(tag).delivery; }
    [[nodiscard]] const std::string& last_error(DeliveryTag tag) const { return held_.at(tag).last_error; }
    [[nodiscard]] std::size_t held() const noexcept { return held_.size(); }
    [[nodiscard]] std::size_t working() const noexcept { return working_; }
    [[nodiscard]] bool paused() const noexcept { return paused_; }

private:
    struct Held {
        Delivery delivery;
        std::string lane;
        std::int32_t attempts = 0;  ///< Begun, and not excused.
        Backoff backoff{};
        std::string last_error{};
        bool park = false;
        bool working = false;
    };

    [[nodiscard]] bool is_suspect(const Held& held) const noexcept { return held.delivery.redelivered && !held.park; }
    [[nodiscard]] bool suspended(Instant now) const noexcept { return now < suspended_until_; }
    [[nodiscard]] std::size_t workers_now() const noexcept { return probing_ ? 1 : rules_.workers; }
    [[nodiscard]] std::optional<ConsumerAction> work(Instant now);
    [[nodiscard]] ConsumerAction begin(DeliveryTag tag);
    [[nodiscard]] ConsumerAction receive(Instant now) const;
    [[nodiscard]] ConsumerAction leave(Instant now);
    /// Whether the source is to be paused, by what is held and by how the database is doing.
    [[nodiscard]] bool wants_pause(Instant now) const noexcept;
    void finish(DeliveryTag tag);
    void failed(Held& held, const Attempted& attempted, Instant now);
    void suspend(const Error& error, Instant now);

    ConsumerRules rules_;
    Random* random_;
    std::unordered_map<DeliveryTag, Held> held_;
    std::map<std::string, std::deque<DeliveryTag>, std::less<>> lanes_;  ///< In order of arrival.
    std::deque<DeliveryTag> ready_;                                      ///< Heads of their lanes that may begin.
    std::set<std::pair<Instant, DeliveryTag>> delayed_;                  ///< Heads of their lanes that wait.
    std::vector<DeliveryTag> done_;                                      ///< To be acknowledged.
    std::size_t working_ = 0;
    std::size_t suspects_ = 0;  ///< Of those being worked.
    Instant suspended_until_{};
    Instant receive_due_{};
    Backoff away_;
    Backoff source_away_;
    bool probing_ = false;  ///< It failed, whatever the message: one at a time until something succeeds.
    bool paused_ = false;
    bool draining_ = false;
};

}  // namespace semel
