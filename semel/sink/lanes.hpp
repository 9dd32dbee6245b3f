#pragma once

#include "semel/base/result.hpp"
#include "semel/message/message.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace semel {

/// The order in which one batch is sent: the events of an aggregate one behind the other, each after the one before it
/// was acknowledged; those of different aggregates side by side. Decides, and talks to nobody.
class Lanes {
public:
    explicit Lanes(std::span<const Message> messages);

    /// The next message that may be sent now, by its place in the batch; nothing while all others wait for one that is
    /// under way, or are answered.
    [[nodiscard]] std::optional<std::size_t> next();
    /// What became of a message that `next` gave. Behind one that was not acknowledged nothing of its aggregate is sent.
    void answered(std::size_t message, Status answer);
    /// Nothing more is begun: what has not been is answered with `why`, once for each aggregate, and what stands behind
    /// that with `behind_unacknowledged`.
    void close(const Error& why);

    [[nodiscard]] bool closed() const noexcept { return closed_; }
    [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
    /// Every message has its answer.
    [[nodiscard]] bool finished() const noexcept { return under_way_ == 0 && ready_.empty(); }
    [[nodiscard]] std::vector<Status> take() && { return std::move(answers_); }

private:
    /// Answers the rest of a lane, from its head on.
    void abandon(std::size_t lane, const Error& head);

    std::vector<std::deque<std::size_t>> lanes_;  ///< What is still to be answered, in order.
    std::vector<std::size_t> lane_of_;            ///< By message.
    std::deque<std::size_t> ready_;               ///< Lanes with nothing under way and something to send.
    std::vector<Status> answers_;
    std::size_t under_way_ = 0;
    bool closed_ = false;
    std::optional<Error> why_closed_;
};

}  // namespace semel
