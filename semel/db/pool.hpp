#pragma once

#include "semel/db/pool_machine.hpp"
#include "semel/db/session.hpp"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <stop_token>
#include <vector>

namespace semel {

/// Opens one session, or says why it cannot, before the deadline. Called from many threads.
using Connect = std::function<Result<std::unique_ptr<Session>>(Deadline)>;

/// A bounded pool of sessions. Thread-safe. It opens sessions as they are asked for, on the thread
/// that asks; it has no thread of its own. A session that comes back in mid-transaction is closed,
/// which makes the server undo it.
///
/// A thread gets the session that it had last, if that is free and needs no check: threads that swap
/// sessions drive themselves and the server's processes from one processor to the other
/// (docs/performance.md). Nothing but speed may depend on it.
class Pool {
public:
    /// A session on loan; goes back when destroyed. Must not outlive the pool.
    class Loan {
    public:
        Loan(Loan&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), slot_(other.slot_) {}
        Loan& operator=(Loan&& other) noexcept;
        ~Loan() { give_back(); }

        [[nodiscard]] Session& operator*() const { return *pool_->sessions_[slot_]; }
        [[nodiscard]] Session* operator->() const { return pool_->sessions_[slot_].get(); }
        void give_back() noexcept;

    private:
        friend class Pool;
        Loan(Pool& pool, PoolMachine::Slot slot) noexcept : pool_(&pool), slot_(slot) {}
        Pool* pool_;
        PoolMachine::Slot slot_;
    };

    enum class Wants : std::uint8_t {
        any,
        fresh,  ///< A new connection: those that are open may have died with the one that was lost.
    };

    Pool(Connect connect, const PoolLimits& limits, Clock& clock, Random& random);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// A session that answers, before the deadline and the acquire timeout, or an Error: `throttled` with
    /// Timeout::pool when none came free or too many wait already (naming who holds one longest);
    /// what the connection said when there was no session and none could be opened; `unavailable` with
    /// Timeout::total when one was opened too late, and is kept for the next caller.
    [[nodiscard]] Result<Loan> acquire(Deadline deadline, const std::stop_token& stop = {},
                                       std::source_location place = std::source_location::current(),
                                       Wants wants = Wants::any);

    struct Usage {
        std::size_t size, open, in_use, waiting;
    };
    [[nodiscard]] Usage usage() const;
    /// Whoever has held a session longer than `leak_after`, longest first.
    [[nodiscard]] std::vector<PoolMachine::Held> leaks() const;

private:
    struct Waiter {
        std::condition_variable_any granted;
        std::optional<PoolMachine::Assignment> assignment;
        std::source_location place;
    };

    [[nodiscard]] Result<PoolMachine::Assignment> obtain(Deadline deadline, const std::stop_token& stop,
                                                         std::source_location place);
    [[nodiscard]] Status make_ready(PoolMachine::Assignment assignment, Deadline deadline);
    void release(PoolMachine::Slot slot) noexcept;
    [[nodiscard]] Error exhausted(std::string_view what) const;

    Connect connect_;
    PoolLimits limits_;
    Clock* clock_;
    mutable std::mutex mutex_;
    PoolMachine machine_;
    std::map<PoolMachine::Ticket, Waiter*> waiters_;
    /// One per slot; only whoever holds the slot touches its element.
    std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace semel
