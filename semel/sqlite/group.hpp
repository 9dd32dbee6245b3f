#pragma once

#include "semel/base/time.hpp"

#include <cstddef>
#include <vector>

namespace semel::sqlite {

struct Member;

/// The transactions that will share one COMMIT, and who may still join them. Decides only; it
/// neither waits nor talks to SQLite.
class Group {
public:
    Group(std::size_t members_max, Duration time_max) noexcept : members_max_(members_max), time_max_(time_max) {}

    /// BEGIN was done.
    void open(Instant now) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return open_; }
    /// Whether this one may join now. A closed group, which its first member opens, admits anyone.
    [[nodiscard]] bool admits(const Member& member, Instant now) const noexcept;
    void join(Member& member);
    [[nodiscard]] bool empty() const noexcept { return joined_.empty(); }
    [[nodiscard]] const std::vector<Member*>& joined() const noexcept { return joined_; }

    /// The transaction ended: who was in it.
    [[nodiscard]] std::vector<Member*> close() noexcept;
    /// One of `transactions` rolled everything back, and which one may not be known for sure: the
    /// next so many groups have one member each, so that it harms nobody else.
    void stand_alone(std::size_t transactions) noexcept { alone_left_ += transactions; }

private:
    std::size_t members_max_;
    Duration time_max_;
    std::vector<Member*> joined_;
    Instant opened_{};
    bool open_ = false;
    std::size_t alone_left_ = 0;
};

}  // namespace semel::sqlite
