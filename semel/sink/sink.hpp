#pragma once

#include "semel/base/result.hpp"
#include "semel/message/message.hpp"
#include "semel/retry/deadline.hpp"

#include <span>
#include <vector>

namespace semel {

/// Where events go: a broker, or whoever else takes messages. What every sink must answer, so that a relay can rely on
/// it. One thread at a time.
class Sink {
public:
    virtual ~Sink() = default;

    /// Sends the messages and waits, no longer than the deadline, until each was answered. One Status per message, in
    /// the order of the messages. Success means that the other side has it for good (all replicas, quorum, disk:
    /// whatever it has to offer). Otherwise the Fault says what can be concluded:
    ///   unavailable  not taken: the other side is away;
    ///   throttled    not taken: it asks for less, `retry_after` says how long if it did;
    ///   unknown      sent and not answered: it is sent again, under the same id;
    ///   rejected     it will never be taken as it is. What the other side refuses is tried a few times all the same, since
    ///                people mend brokers; a `final_refusal` is not.
    ///
    /// Messages of one aggregate arrive in their order, also when the sink retries by itself: as soon as one of them is
    /// not acknowledged, none behind it in the same aggregate is sent, or goes on being sent. Those are answered with
    /// `behind_unacknowledged`.
    [[nodiscard]] virtual std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) = 0;
};

/// Whether two messages are of one aggregate.
[[nodiscard]] bool same_aggregate(const Message& one, const Message& other) noexcept;

/// The answer for a message that was held back, since one before it in its aggregate was not acknowledged.
[[nodiscard]] Error behind_unacknowledged();

/// The same failure as the answer for a message that was refused before anybody was asked: `rejected`, and no other
/// attempt will end otherwise. It says nothing about whether the other side is there.
[[nodiscard]] Error final_refusal(Error why);
[[nodiscard]] bool is_final(const Error& error) noexcept;

}  // namespace semel
