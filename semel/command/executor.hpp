#pragma once

#include "semel/command/command.hpp"
#include "semel/command/reply_cache.hpp"
#include "semel/idempotency/barrier.hpp"

#include <functional>
#include <memory>
#include <type_traits>

namespace semel {

struct ExecutorOptions {
    std::size_t cache_bytes = std::size_t{64} << 20U;  ///< Of finished replies in memory; 0: none.
    /// Longest that a cached reply is answered without asking the database, on top of its retention.
    Duration cache_time = std::chrono::hours(1);
    /// Called after each command of ours that committed, not for a repeat: for a relay's doorbell. On the thread that
    /// executed it; must not block.
    std::function<void()> on_executed{};
    /// What an event has to look like. A command that appends another one ends as `broken`, and nothing of it is kept.
    EventCheck check_event{};
};

/// Executes commands: claim, handler, events, reply and COMMIT in one transaction. Thread-safe.
///
/// For one identity at most one execution commits, whatever is repeated, raced, cut off or killed. A repeat gets the
/// stored reply byte for byte. A handler that only posts costs one round trip, one that reads first costs two.
///
/// Committed: the answer, durable unless it is a rejection (which changed nothing). NotCommitted: nothing of it
/// happened, and this call will not make it happen; `verdict_of` its Error tells if it was refused by the claim (in
/// progress, mismatch, expired, needs reconciliation). Unknown: it may have happened; a repeat with the same key tells.
class Executor {
public:
    /// Fails if the database's driver lacks a statement. The database must outlive it.
    [[nodiscard]] static Result<std::unique_ptr<Executor>> create(Database& database,
                                                                  const ExecutorOptions& options = {});

    /// The handler takes a Work& and returns a Result<Reply> or a Result<CommandDecision>. It may run several times; each time
    /// nothing of the earlier ones is left. An exception of it rolls back and becomes `broken`.
    template <class F>
    [[nodiscard]] Outcome<Answer> execute(const Command& command, const CommandOptions& options, F&& handler) {
        if constexpr (std::is_same_v<std::remove_cvref_t<F>, Handler>) {
            return run(command, options, handler);
        } else {
            return run(command, options, [&handler](Work& work) -> Result<CommandDecision> {
                return CommandDecision(SEMEL_TRY(handler(work)));
            });
        }
    }
    template <class F>
    [[nodiscard]] Outcome<Answer> execute(const Command& command, F&& handler) {
        return execute(command, CommandOptions{}, std::forward<F>(handler));
    }

    /// The stored reply if it is in memory: never waits, and its absence means nothing.
    [[nodiscard]] std::shared_ptr<const Reply> cached(const Command& command) {
        return cache_.find(command.identity.digest(), command.fingerprint);
    }

    /// The record of a command by its id; none if there is none.
    [[nodiscard]] Result<std::optional<NamedRecord>> look_up(std::string_view command_id, Deadline deadline);

    [[nodiscard]] Database& database() noexcept { return *database_; }
    [[nodiscard]] const Statements& statements() const noexcept { return statements_; }
    [[nodiscard]] const AppendStatements& append_statements() const noexcept { return append_; }
    [[nodiscard]] const EventCheck& check_event() const noexcept { return options_.check_event; }
    [[nodiscard]] Barrier& barrier() noexcept { return barrier_; }
    [[nodiscard]] ReplyCache& cache() noexcept { return cache_; }

    /// A command has committed.
    void executed() const {
        if (options_.on_executed) options_.on_executed();
    }

    /// Remembers a reply whose COMMIT was acknowledged.
    void remember(const Command& command, const Reply& reply, Duration keep_for);

private:
    Executor(Database& database, const ExecutorOptions& options, const Statements& statements,
             const AppendStatements& append);
    [[nodiscard]] Outcome<Answer> run(const Command& command, const CommandOptions& options, const Handler& handler);

    Database* database_;
    ExecutorOptions options_;
    Statements statements_;
    AppendStatements append_;
    Barrier barrier_;
    ReplyCache cache_;
};

}  // namespace semel
