#pragma once

#include "semel/command/leased_seen.hpp"

#include <optional>

namespace semel::detail {

/// One run of a leased command's handler by whoever holds its lease, to its end or until it must be left to others.
class LeasedRun {
public:
    LeasedRun(LeasedExecutor& executor, const LeasedOperation& operation, const Command& command, BytesView payload,
              const Lease& lease, std::int64_t attempts);

    [[nodiscard]] Outcome<Answer> run();
    /// Ends it without another run: its attempts are used up.
    [[nodiscard]] Outcome<Answer> give_up(Error error);

private:
    [[nodiscard]] Result<CommandDecision> call_decide(const Finish& finish, Work& work) const;
    /// The last transaction: business writes, events, reply.
    [[nodiscard]] Outcome<Answer> finish(const Finish& finish);
    [[nodiscard]] Status finish_in(Transaction& tx, const Attempt& attempt, const Finish& finish);
    [[nodiscard]] Status post_end(Transaction& tx, CommandState state, const Reply& reply, std::string_view error);
    [[nodiscard]] Outcome<Answer> store_rejection(const Rejection& rejection);

    /// What becomes of a run that failed; `store` knows whether the store or the handler said so.
    [[nodiscard]] Outcome<Answer> conclude(Error error, const StoreFailure& store);
    [[nodiscard]] Outcome<Answer> leave_to_sweeper(Error error);
    [[nodiscard]] Outcome<Answer> try_later(Error error);
    [[nodiscard]] Outcome<Answer> end_badly(Error error);
    /// A write did not pass the fence, or nobody knows if it did: what is there now?
    [[nodiscard]] Outcome<Answer> conclude_from_record(Error error);
    [[nodiscard]] Outcome<Answer> not_stored(Outcome<> outcome, Error error);

    [[nodiscard]] Outcome<> write(const std::function<Status(Transaction&)>& body);
    /// What must be stored is stored even when the command's own time is over.
    [[nodiscard]] Deadline ending() const;
    /// Keeps the reply of a transaction that was begun then at hand, no longer than its record says.
    void remember(const Reply& reply, Instant begun) const;
    [[nodiscard]] Duration delay(const Error& error) const;
    [[nodiscard]] Reply reply_for(const Error& error) const;

    LeasedExecutor* executor_;
    Database* database_;
    const LeaseStatements* statements_;
    const LeasedOptions* options_;
    const LeasedHandler* handler_;
    const Command* command_;
    BytesView payload_;
    Lease lease_;
    std::int64_t attempts_;
    std::optional<Reply> reply_;          ///< Of the last transaction.
    std::optional<Rejection> rejection_;  ///< Of the last transaction.
    bool of_store_ = false;               ///< Whether what ended the run is what the store said.
};

}  // namespace semel::detail
