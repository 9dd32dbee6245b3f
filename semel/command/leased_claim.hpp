#pragma once

#include "semel/command/leased_seen.hpp"
#include "semel/retry/backoff.hpp"

#include <optional>

namespace semel::detail {

/// A request on its way to a lease, or to the answer that it was executed before.
class LeasedClaim {
public:
    LeasedClaim(LeasedExecutor& executor, const LeasedOperation& operation, const Command& command, BytesView payload);

    [[nodiscard]] Outcome<Answer> run();

private:
    /// Stores the record as processing, in one flush: its primary key decides.
    [[nodiscard]] Outcome<> claim();
    /// Takes a command whose last attempt failed, if its next is due.
    [[nodiscard]] Outcome<> retake(Lease& lease, std::int64_t& attempts);
    /// The answer that a record gives; none: look again.
    [[nodiscard]] std::optional<Outcome<Answer>> answer_from(const Seen& seen);
    [[nodiscard]] std::optional<Outcome<Answer>> wait_or_refuse();
    [[nodiscard]] Outcome<Answer> go_on(const Lease& lease, std::int64_t attempts);
    [[nodiscard]] Outcome<Answer> not_done(Error error) const;

    LeasedExecutor* executor_;
    Database* database_;
    const LeasedOperation* operation_;
    const Command* command_;
    BytesView payload_;
    Claim claim_;
    Uuid owner_;  ///< One for all attempts of this request: by it a lost COMMIT is known again.
    Deadline deadline_;
    Deadline wait_until_;
    Backoff backoff_;
    bool in_doubt_ = false;  ///< A claim of ours was sent and may still arrive.
};

}  // namespace semel::detail
