#pragma once

#include "semel/base/result.hpp"
#include "semel/retry/deadline.hpp"
#include "semel/source/received.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace semel {

/// The source's own name of one delivery: never the same twice while the source lives.
using DeliveryTag = std::uint64_t;

struct Delivery {
    DeliveryTag tag = 0;
    /// Someone may have begun with it before: the broker says so, or the source cannot exclude it.
    bool redelivered = false;
    ReceivedMessage message;
};

/// What gives a consumer its messages: a broker, or whoever else delivers at least once. What every source must answer.
/// One thread at a time, except for `wake`.
class Source {
public:
    virtual ~Source() = default;

    /// Up to `limit` messages, as soon as there are any; none if none came before the deadline, or someone woke it. What
    /// is delivered stays the source's until it is acknowledged: if this process dies, it is delivered again, to whoever
    /// is there then. Messages of one key come in their order, and those given back or lost come before later ones of
    /// their key, as far as the broker can.
    ///
    /// A paused source, or a limit of zero, gives nothing, but keeps the connection and its place in the group: it is
    /// called all the same.
    [[nodiscard]] virtual Result<std::vector<Delivery>> receive(std::size_t limit, Deadline deadline) = 0;

    /// These are done with. Called in the order in which they were finished, which need not be that of their arrival: a
    /// source that knows only positions moves its own when everything before it is done with. An Error: they may come
    /// again.
    [[nodiscard]] virtual Status acknowledge(std::span<const DeliveryTag> tags) = 0;
    /// These were not done, and are to be delivered again, here or elsewhere.
    [[nodiscard]] virtual Status give_back(std::span<const DeliveryTag> tags) = 0;

    /// Deliver nothing until `resume`. What was delivered stays with the consumer.
    virtual void pause() = 0;
    virtual void resume() = 0;

    /// Ends a `receive` that waits, or the next one if none does. From any thread.
    virtual void wake() = 0;
};

}  // namespace semel
