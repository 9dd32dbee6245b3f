#pragma once

#include "semel/outbox/partitions.hpp"
#include "semel/outbox/pending.hpp"
#include "semel/relay/doorbell.hpp"
#include "semel/retry/deadline.hpp"

#include <span>

namespace semel {

/// Where a relay gets its events from, and where it says what became of them: what `Relay` asks of a database. One thread
/// at a time.
///
/// Whatever way events come, the first ones of an aggregate are given out in the order of their commits, and an event
/// that was not settled is given out again.
class Feed {
public:
    virtual ~Feed() = default;

    /// Says that the relay lives and makes sure of what it holds, at least until one lease after the call began. An
    /// Error: nothing is certain but what was certain before.
    [[nodiscard]] virtual Result<Partitions::Tended> tend(Deadline deadline) = 0;
    /// The next events of these partitions, about `each` of every one. Whoever receives them may show them to others:
    /// nothing is among them that the loss of the primary would undo.
    [[nodiscard]] virtual Result<PendingBatch> read(std::span<const HeldPartition> partitions, std::size_t each,
                                                    Deadline deadline) = 0;
    /// Writes down what became of events that were read. Doing it again changes nothing.
    [[nodiscard]] virtual Status settle(const Settlement& settlement, Deadline deadline) = 0;
    /// Gives everything back, so that others need not wait.
    [[nodiscard]] virtual Status leave(Deadline deadline) = 0;

    /// Rings when there may be something to read.
    [[nodiscard]] virtual Doorbell& doorbell() noexcept = 0;
    /// The relay's id: new with every feed.
    [[nodiscard]] virtual const Uuid& relay() const noexcept = 0;
};

}  // namespace semel
