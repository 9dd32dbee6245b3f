#pragma once

#include "semel/base/result.hpp"
#include "semel/message/message.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace semel::kafka {

/// In which order one batch is sent. Of each aggregate one message at a time is under way, and the next only after it was
/// acknowledged: whatever client and brokers do with what they have, nothing can overtake. Those of different aggregates go
/// side by side. What was refused together with others is sent again, alone, for the broker refuses whole batches. Decides,
/// and talks to nobody.
class PublishPlan {
public:
    PublishPlan(std::span<const Message> messages, std::size_t window);

    /// The next message that may be sent now, by its place in the batch; nothing while all others wait for one that is
    /// under way, or are answered.
    [[nodiscard]] std::optional<std::size_t> next();

    /// What became of a message that `next` gave. Behind one that was not acknowledged nothing of its aggregate is sent.
    void answered(std::size_t message, Status answer);
    /// Refused for something that another message of its batch may be guilty of.
    void refused(std::size_t message, const Error& why);

    /// Nothing more is begun: the first of each aggregate that has not been is answered with `why`, and what stands behind
    /// it with `behind_unacknowledged`.
    void close(const Error& why);

    [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
    /// Every message has its answer.
    [[nodiscard]] bool finished() const noexcept { return under_way_ == 0 && ready_.empty() && suspects_.empty(); }
    [[nodiscard]] std::vector<Status> take() && { return std::move(answers_); }

private:
    /// Answers the rest of a lane, from its head on.
    void abandon(std::size_t lane, const Error& head);

    std::vector<std::deque<std::size_t>> lanes_;  ///< By aggregate: what is still to be answered, in order.
    std::vector<std::size_t> lane_of_;            ///< By message.
    std::deque<std::size_t> ready_;               ///< Lanes with nothing under way and something to send.
    std::deque<std::size_t> suspects_;            ///< Lanes whose head is to be sent alone.
    std::optional<std::size_t> alone_;            ///< The message that is under way and nothing else.
    std::vector<Status> answers_;
    std::size_t window_;
    std::size_t under_way_ = 0;
    std::optional<Error> why_closed_;
};

}  // namespace semel::kafka
