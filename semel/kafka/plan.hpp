#pragma once

#include "semel/base/result.hpp"
#include "semel/message/message.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace semel::kafka {

/// In which order one batch is sent: in rounds, each begun when everything of the one before was answered. Whoever sends
/// makes sure that what goes of one aggregate in one round reaches the broker as one batch, which is taken or refused as a
/// whole: so nothing can overtake, whatever client and brokers do with what they have. What was refused together with
/// others is sent again, alone, for any of them may be the guilty one. Decides, and talks to nobody.
class PublishPlan {
public:
    PublishPlan(std::span<const Message> messages, std::size_t window);

    /// Only while nothing is under way.
    void begin_round();
    /// The next message that may go with this round, by its place in the batch; the same one until `begun`, `hold` or
    /// `answered` is said of it.
    [[nodiscard]] std::optional<std::size_t> next();
    /// The one of its aggregate that goes right before it in this round, if one does.
    [[nodiscard]] std::optional<std::size_t> ahead_of(std::size_t message) const;

    /// It was handed over.
    void begun(std::size_t message);
    /// It does not go with this round, nor does anything behind it in its aggregate.
    void hold(std::size_t message);
    /// What became of a message that `next` gave. Behind one that was not acknowledged nothing of its aggregate is begun.
    void answered(std::size_t message, Status answer);
    /// Refused for something that another message of its batch may be guilty of.
    void refused(std::size_t message, const Error& why);

    /// Nothing more is begun: the first of each aggregate that has not been is answered with `why`, and what stands behind
    /// it with `behind_unacknowledged`.
    void close(const Error& why);

    [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
    /// Every message has its answer.
    [[nodiscard]] bool finished() const noexcept { return under_way_ == 0 && waiting_ == 0; }
    /// Of each aggregate the first failure says why; those behind it were held back, or are sent again behind it.
    [[nodiscard]] std::vector<Status> take() &&;

private:
    enum class Stage : unsigned char { waiting, under_way, answered };
    struct Item {
        std::size_t lane = 0;
        Stage stage = Stage::waiting;
        bool suspect = false;  ///< To be sent alone.
    };
    struct Lane {
        std::vector<std::size_t> messages{};  ///< In order.
        std::optional<std::size_t> last{};    ///< That goes with this round.
        bool held = false;                    ///< For the rest of this round.
        bool stopped = false;                 ///< For good.
    };

    void settle(std::size_t message, Status answer);
    void stop(Lane& lane);

    std::vector<Item> items_;  ///< By message.
    std::vector<Lane> lanes_;  ///< By aggregate.
    std::vector<Status> answers_;
    std::size_t window_;
    std::size_t waiting_;
    std::size_t under_way_ = 0;
    std::size_t cursor_ = 0;      ///< Everything before it was looked at in this round.
    std::size_t round_size_ = 0;  ///< How many were begun in it.
    std::optional<std::size_t> alone_;
    std::optional<Error> why_closed_;
};

}  // namespace semel::kafka
