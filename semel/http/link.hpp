#pragma once

#include "semel/base/time.hpp"
#include "semel/http/core.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <list>

namespace semel::http {

/// What an event loop must know of each of its connections.
struct Link {
    Waiting waiting = Waiting::nothing;
    Instant since{};                 ///< When it began to wait for that.
    Instant limit = Instant::max();  ///< When the wait is over.
    std::list<Link*>::iterator place{};
    bool listed = false;
};

/// The connections of one event loop, those that wait for the same in the order in which they began
/// to. Decides who gives way to a newcomer. One thread.
class LinkTable {
public:
    void add(Link& link, Waiting waiting, Instant now, Instant limit);
    /// The link waits for something else from now on: it goes to the end of its new line.
    void move(Link& link, Waiting waiting, Instant now, Instant limit);
    /// Nothing happens if it is gone already.
    void remove(Link& link) noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Below this nobody is slow yet.
    static constexpr Duration slow_after = std::chrono::seconds(1);
    /// Who has waited longest without completing a request head, if that is `slow_after` or more; else
    /// the slowest body, else the slowest reader, likewise; else whoever has waited longest. Null if all
    /// are being handled.
    [[nodiscard]] Link* victim(Instant now) const noexcept;

    /// Calls `visit` for every link; it may remove the one it is given, and no other.
    template <class Visit>
    void for_each(Visit&& visit) {
        for (auto& line : lines_) {
            for (auto next = line.begin(); next != line.end();) visit(**next++);
        }
    }

private:
    // Handled ones stand in the last line, which nobody is evicted from.
    enum Line : unsigned char { head, body, write, handled, count };
    [[nodiscard]] static Line line_of(Waiting waiting) noexcept;

    std::array<std::list<Link*>, Line::count> lines_{};
    std::size_t size_ = 0;
};

}  // namespace semel::http
