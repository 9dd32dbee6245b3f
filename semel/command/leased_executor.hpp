#pragma once

#include "semel/command/executor.hpp"
#include "semel/command/operations.hpp"

#include <memory>

namespace semel {

/// A command that someone has taken and must now go on with.
struct TakenCommand {
    Command command;
    Bytes payload;
    Lease lease;
    std::int64_t attempts = 0;  ///< Runs begun, this one included.
};

/// From one row of the statements that take.
[[nodiscard]] Result<TakenCommand> taken_from(const Row& row, const Uuid& owner);

/// Executes commands with effects outside the database. The record is committed as *processing* before the handler
/// begins, so a repeat is told that it is in progress; the handler's steps and its end are written under a fence, so
/// that of several who believe to execute it only one can. Thread-safe.
///
/// Committed: the answer; a rejection is stored too. NotCommitted: it did not finish, and this call will not make it
/// finish; `verdict_of` tells if the claim refused it. A transient failure (`cause.retry_after`) is tried again by a
/// worker or a repeat. Unknown: an effect outside may have happened; the sweeper finds out, a repeat with the same
/// key tells.
class LeasedExecutor {
public:
    /// Fails if the database's driver lacks a statement. Both must outlive it.
    [[nodiscard]] static Result<std::unique_ptr<LeasedExecutor>> create(Executor& executor,
                                                                        const Operations& operations);

    /// Executes on the calling thread. The operation's handler is found by the command's operation; all that it
    /// knows of the request is `payload`, which is stored.
    [[nodiscard]] Outcome<Answer> execute(const Command& command, BytesView payload);

    /// Goes on with a command that was taken by a worker or the sweeper.
    [[nodiscard]] Outcome<Answer> go_on(const TakenCommand& taken);

    /// Ends one that was taken without another run: as failed, or before a person if something of it has happened.
    [[nodiscard]] Outcome<Answer> give_up(const TakenCommand& taken, Error error);

    /// The operation of a command, if it is registered and the request is no larger than it takes.
    [[nodiscard]] Result<const LeasedOperation*> operation_for(const Command& command, BytesView payload) const;

    [[nodiscard]] Executor& executor() noexcept { return *executor_; }
    [[nodiscard]] Database& database() noexcept { return executor_->database(); }
    [[nodiscard]] const Operations& operations() const noexcept { return *operations_; }
    [[nodiscard]] const LeaseStatements& statements() const noexcept { return statements_; }

private:
    LeasedExecutor(Executor& executor, const Operations& operations, const LeaseStatements& statements)
        : executor_(&executor), operations_(&operations), statements_(statements) {}

    Executor* executor_;
    const Operations* operations_;
    LeaseStatements statements_;
};

}  // namespace semel
