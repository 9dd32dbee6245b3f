#pragma once

#include "semel/base/outcome.hpp"
#include "semel/sqlite/connection.hpp"
#include "semel/sqlite/group.hpp"
#include "semel/sqlite/member.hpp"
#include "semel/sqlite/options.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace semel::sqlite {

/// The one writer of a file, shared by many threads. Transactions that are ready together share
/// one COMMIT, hence one fsync, each in a savepoint of its own; all are answered after it. There
/// is no thread of its own: whoever holds the connection leads, executes what is queued, commits
/// when nobody is left to join, and hands the lead on. Nobody waits for a group to fill; it fills
/// while the fsync of the one before runs.
///
/// A transaction is answered only after the COMMIT of every transaction it could have seen. When
/// a member rolls the whole group back, nobody is answered: jobs are executed again one by one,
/// the others are told `conflict`. After a COMMIT that may or may not have reached the disk all
/// are `Unknown`, and the writer refuses everything from then on.
class Writer {
public:
    Writer(std::unique_ptr<Connection> connection, const StoreOptions& options, Clock& clock);
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    /// Executes and commits the member's work, on this thread or on that of whoever leads.
    [[nodiscard]] Outcome<> commit_job(Member& member);

    /// Waits for the writer's turn and begins. On success the member holds the turn until it is
    /// committed, rolled back or abandoned, or until it pauses too long while others wait.
    [[nodiscard]] Status take_turn(Member& member);
    /// Executes the member's posted work, then the statement.
    [[nodiscard]] Result<Rows> execute(Member& member, const Statement& statement);
    [[nodiscard]] Status flush(Member& member);
    [[nodiscard]] Status run_script(Member& member, std::string_view script);
    [[nodiscard]] Outcome<> commit_turn(Member& member);
    /// Undoes the member, and waits for the COMMIT of those before it, whose changes it may have
    /// seen. `conflict` if they were undone.
    [[nodiscard]] Status rollback_turn(Member& member);
    /// Undoes the member; nobody will conclude anything from it.
    void abandon_turn(Member& member) noexcept;

    /// An Error once the writer refuses everything.
    [[nodiscard]] Status health() const;
    [[nodiscard]] StoreStats stats() const;

private:
    using Lock = std::unique_lock<std::mutex>;

    // The queue and the lead (writer_lead.cpp). Each needs the lock.
    void enqueue(Member& member);
    void await(Lock& lock, Member& member);
    void lead(Lock& lock, Member& self);
    void give_turn(Member& member);
    void pass_on();
    /// Takes the turn from whoever pauses too long and gives the lead to `by`.
    void reclaim(Lock& lock, Member& by);
    [[nodiscard]] bool may_reclaim(const Member& by, Instant now) const noexcept;
    [[nodiscard]] Instant wake_at(const Member& member, Instant now) const noexcept;
    void drop(Member& member, Instant now);
    void answer(Member& member, Outcome<> outcome, Member::Ground ground);
    /// Unlocks, then wakes whom it concerns: woken under the lock they would only queue for it.
    void release(Lock& lock);

    // The transaction (writer_group.cpp). Only whoever holds the connection.
    void run_job(Lock& lock, Member& member);
    [[nodiscard]] Status open_savepoint(Member& member);
    [[nodiscard]] Status close_savepoint(Status done);
    /// The member is done, well or not: it joins, or has destroyed the group.
    void settle(Member& member, const Status& done);
    void group_destroyed(Member& culprit, const Status& done);
    /// Those who were undone begin again, or are told to.
    void rerun_alone(std::vector<Member*> undone);
    void commit_group(Lock& lock);
    void committed(const std::vector<Member*>& members);
    void not_committed(const std::vector<Member*>& members, const Error& error);
    void poison(Lock& lock, const std::vector<Member*>& members, const Error& why);
    void checkpoint(Lock& lock);
    [[nodiscard]] Limits own_limits() const noexcept;

    /// Between two calls of a turn's thread the turn may be reclaimed, never within one.
    [[nodiscard]] Status enter(Lock& lock, Member& member);
    template <class T>
    [[nodiscard]] Result<T> leave(Lock& lock, Member& member, Result<T> result);

    std::unique_ptr<Connection> connection_;
    StoreOptions options_;
    Clock* clock_;

    mutable std::mutex mutex_;
    std::deque<Member*> queue_;
    Member* holder_ = nullptr;  ///< Whose thread holds the connection.
    bool turn_taken_ = false;   ///< The holder executes a transaction of its own, else it leads.
    bool turn_busy_ = false;    ///< …and is inside a call.
    Instant turn_until_{};      ///< …or pauses, and may do so until then.
    std::vector<std::shared_ptr<std::condition_variable_any>> to_wake_;
    std::optional<Error> poisoned_;
    StoreStats stats_;
    Group group_;  ///< Touched only by whoever holds the connection.
};

}  // namespace semel::sqlite
