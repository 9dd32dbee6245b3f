#pragma once

#include "semel/base/random.hpp"
#include "semel/outbox/pending.hpp"
#include "semel/relay/rules.hpp"
#include "semel/retry/backoff.hpp"
#include "semel/retry/deadline.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace semel {

/// What a relay does next.
namespace relay_action {

/// Renew the leases, and take or give back partitions.
struct Tend {};
/// Read the first `each` events of these partitions.
struct ReadPending {
    std::vector<HeldPartition> partitions;
    std::size_t each = 0;
};
/// Hand `Machine::batch` to the sink.
struct Publish {
    Deadline deadline;
};
/// Write `Machine::settlement` down.
struct Settle {};
/// Nothing until then.
struct Wait {
    Instant until;
    bool for_bell = false;  ///< Or until someone rings.
};
/// Give the leases back: everything that was begun is finished.
struct Leave {};
/// It has left.
struct Finished {};

}  // namespace relay_action

using RelayAction = std::variant<relay_action::Tend, relay_action::ReadPending, relay_action::Publish,
                                 relay_action::Settle, relay_action::Wait, relay_action::Leave, relay_action::Finished>;

/// Decides what a relay does; talks to nobody and reads no clock. Whoever runs it asks `next`, does that, and tells
/// how it went by the function of the same name, or `database_failed`. One thread at a time.
///
/// Whatever the sink and the database answer: the first deliveries of an aggregate's events are in the order of their
/// positions, nothing is given up without being acknowledged or visibly parked, and what was acknowledged is written
/// down before anything else is read.
class RelayMachine {
public:
    /// `rules` must have passed `check`.
    RelayMachine(RelayRules rules, Random& random);

    [[nodiscard]] RelayAction next(Instant now);

    /// What was asked of the database failed; nothing is known to have happened.
    void database_failed(Instant now);
    /// The relay holds these partitions, since before `begun` plus one lease; its share is `share`.
    void tended(Instant begun, std::vector<HeldPartition> held, std::size_t share, Instant now);
    /// What the outbox held; each event has its message at the same place.
    void read(std::vector<PendingEvent> events, std::vector<Message> messages, Instant now);
    /// The sink's answers to `batch`, in its order. Missing ones count as unknown.
    void published(std::span<const Status> answers, Instant now);
    void settled();
    void left();

    /// Someone appended.
    void ring() noexcept { rung_ = true; }
    /// Read nothing more, finish what was begun, give the leases back, stop.
    void drain() noexcept { draining_ = true; }

    /// What is to be published: of `Publish` only.
    [[nodiscard]] std::span<const Message> batch() const noexcept { return messages_; }
    [[nodiscard]] const Settlement& settlement() const noexcept { return settlement_; }
    [[nodiscard]] std::span<const HeldPartition> held() const noexcept { return held_; }

private:
    [[nodiscard]] RelayAction publish(Instant now);
    [[nodiscard]] RelayAction read_next(Instant now);
    void drop_batch() noexcept;
    [[nodiscard]] std::optional<HeldPartition> holding(std::int32_t partition) const;
    /// Notes what becomes of the first event of an aggregate that was not acknowledged.
    void refused(const PendingEvent& event, std::string_view type, const Error& error, bool sink_is_there);
    void add_failure(const PendingEvent& event, const Error& error);
    void park(const PendingEvent& event, std::int32_t attempts, std::string reason, bool blocks);
    void park_behind(const PendingEvent& event);
    void sink_failed(const Error& error, Instant now);
    [[nodiscard]] Duration delay_of(std::int32_t attempts, bool throttled);

    RelayRules rules_;
    Random* random_;
    Breaker breaker_;
    Breaker::Permit permit_;
    std::vector<HeldPartition> held_;  ///< Sorted by partition.
    Instant held_until_{};             ///< By our own clock, earlier than the database's.
    Instant tend_due_{};
    std::vector<PendingEvent> batch_;  ///< Read and not yet published …
    std::vector<Message> messages_;    ///< … and what each of them says.
    std::set<std::int64_t> parked_;    ///< Aggregates of the batch whose event was just parked and blocks.
    Settlement settlement_;
    std::vector<std::int32_t> crowded_;  ///< Partitions that had more than was read, for one read of their own.
    std::vector<std::int32_t> asked_;    ///< Partitions of the read under way.
    std::size_t each_ = 0;               ///< And how many of each.
    Instant read_due_{};
    Instant sink_due_{};
    Instant database_due_{};
    Backoff sink_backoff_;
    Backoff database_backoff_;
    bool rung_ = false;
    bool draining_ = false;
    bool left_ = false;
};

}  // namespace semel
