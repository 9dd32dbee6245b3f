#pragma once

#include "semel/command/executor.hpp"
#include "semel/retry/backoff.hpp"

#include <optional>

namespace semel::detail {

/// One command on its way through an Executor: several transactions at worst, one answer in the end.
class Execution {
public:
    Execution(Executor& executor, const Command& command, const CommandOptions& options, const Handler& handler);

    [[nodiscard]] Outcome<Answer> run();

private:
    /// The handler in a transaction, rerun as `transact` sees fit.
    [[nodiscard]] Outcome<> attempt();
    [[nodiscard]] Status execute(Transaction& tx, const Attempt& attempt);
    [[nodiscard]] Result<CommandDecision> call_handler(Work& work) const;
    /// After a lost COMMIT whose claim had been answered: wait for the old transaction to end, then look.
    [[nodiscard]] Result<Resolution> resolve(Session& session, Deadline deadline);
    /// Stores a refusal so that nothing else can come true under this key.
    [[nodiscard]] Outcome<> store_rejection();

    /// What to tell, once an attempt has ended; none: go on.
    [[nodiscard]] std::optional<Outcome<Answer>> conclude(Outcome<> outcome);
    [[nodiscard]] std::optional<Outcome<Answer>> conclude_verdict(ClaimVerdict verdict);
    [[nodiscard]] std::optional<Outcome<Answer>> conclude_rejection();
    [[nodiscard]] std::optional<Outcome<Answer>> conclude_in_progress();
    /// The answer that a record gives; none: it was waited for, look again.
    [[nodiscard]] std::optional<Outcome<Answer>> answer_from(Record found);
    [[nodiscard]] Outcome<Answer> replay(Record record);
    /// For no longer than the record: whatever the database counted its time from lies after our beginning.
    void remember(const Reply& reply, Duration kept) const;
    [[nodiscard]] Result<std::optional<Record>> look();

    [[nodiscard]] bool looks_first() const noexcept;
    [[nodiscard]] bool above_read_committed() const noexcept;
    /// While an earlier flush of ours may still arrive, no refusal is certain.
    [[nodiscard]] Outcome<Answer> not_done(Error error) const;

    Executor* executor_;
    Database* database_;
    const Command* command_;
    const CommandOptions* options_;
    const Handler* handler_;
    Claim claim_;
    Instant begun_;
    Deadline deadline_;
    Deadline wait_until_;
    Backoff backoff_;

    bool in_doubt_ = false;  ///< A flush with COMMIT in it was sent and may still arrive.
    int natural_keys_met_ = 0;
    std::optional<Reply> reply_;          ///< Of the last attempt.
    std::optional<Rejection> rejection_;  ///< Of the last attempt.
    std::optional<Record> found_;         ///< What a lost COMMIT turned out to have left.
};

}  // namespace semel::detail
