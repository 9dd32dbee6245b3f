#pragma once

#include "semel/base/random.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <source_location>
#include <vector>

namespace semel {

/// The bounds of a pool of sessions. `Database` checks them.
struct PoolLimits {
    std::size_t size = 10;                               ///< Sessions at most.
    std::size_t queue = 200;                             ///< Callers that may wait for one.
    Duration acquire_timeout = std::chrono::seconds(5);  ///< Longest wait for a session.
    /// An idle session is given at least this long to answer, and a new one to open, even if who
    /// asked for it has less: it serves the next one. So while the server does not answer, `acquire`
    /// can end after its deadline, by twice this at most.
    Duration connect_min = std::chrono::milliseconds(250);
    Duration lifetime = std::chrono::minutes(30);         ///< A session is replaced after this, less up to 2.5 %.
    Duration check_after_idle = std::chrono::seconds(5);  ///< An idle session is checked before use after this.
    Duration leak_after = std::chrono::minutes(1);        ///< Held longer than this is reported.
};

/// Which session serves whom: the decisions of a pool without its waiting and talking. Not
/// thread-safe; the runner (`Pool`) holds its lock around every call.
///
/// Invariants: at most `size` slots are in use; a caller waits only while every slot is in use; a
/// slot that comes free goes to the caller that has waited longest.
class PoolMachine {
public:
    using Slot = std::size_t;
    using Ticket = std::uint64_t;

    /// What the caller does with its slot before it may use the session in it.
    enum class Duty : std::uint8_t {
        use,      ///< Nothing.
        check,    ///< See whether the session still answers; if not, connect.
        connect,  ///< Close what is there and connect.
    };
    struct Assignment {
        Slot slot;
        Duty duty;
    };
    struct Held {
        Duration since;
        std::source_location place;
    };

    PoolMachine(const PoolLimits& limits, Random& random);

    /// A slot at once, if one is free and nobody waits for it: `preferred`, while its session is idle and needs
    /// no check, else the one that came back last.
    [[nodiscard]] std::optional<Assignment> acquire(Instant now, std::source_location place,
                                                    std::optional<Slot> preferred = {});
    /// A place in the queue, or nothing when the queue is full.
    [[nodiscard]] std::optional<Ticket> enqueue();
    /// Gives up a place in the queue. False: the ticket was served meanwhile, take the assignment.
    [[nodiscard]] bool leave_queue(Ticket ticket);

    /// The session in `slot` is new: its lifetime begins.
    void connected(Slot slot, Instant now);

    struct Release {
        bool close = false;          ///< Close the session in the slot.
        std::optional<Ticket> next;  ///< Who gets the slot now …
        Assignment assignment{};     ///< … and what it must do with it.
    };
    /// The slot comes back, with a session fit for further use or not.
    [[nodiscard]] Release release(Slot slot, bool usable, Instant now);
    /// Notes who holds the slot that `release` passed on.
    void hold(Slot slot, Instant now, std::source_location place);

    [[nodiscard]] std::optional<Held> held_longest(Instant now) const;
    [[nodiscard]] std::optional<Held> held(Slot slot, Instant now) const;
    [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }
    [[nodiscard]] std::size_t open() const noexcept;
    [[nodiscard]] std::size_t waiting() const noexcept { return queue_.size(); }

private:
    enum class State : std::uint8_t { empty, idle, in_use };
    struct Entry {
        State state = State::empty;
        bool connected = false;
        Instant since{};    ///< Idle or held since.
        Instant expires{};  ///< When its lifetime ends.
        std::source_location place;
    };
    [[nodiscard]] Duty duty_of(const Entry& entry, Instant now) const noexcept;
    [[nodiscard]] std::optional<Slot> take_free(Instant now, std::optional<Slot> preferred);

    PoolLimits limits_;
    Random* random_;
    std::vector<Entry> entries_;
    std::vector<Slot> idle_;  ///< The one used last is on top: the rest may age and be closed.
    std::vector<Slot> empty_;
    std::deque<Ticket> queue_;
    Ticket next_ticket_ = 1;
    std::size_t in_use_ = 0;
};

}  // namespace semel
