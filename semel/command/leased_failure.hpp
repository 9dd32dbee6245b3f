#pragma once

#include "semel/command/command.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace semel {

/// Tells what the store said from what a handler decides: both arrive as an Error, and only one of them is a refusal of
/// the command.
class StoreFailure {
public:
    /// The body of a transaction is over; `failed`, and the transaction will be rolled back.
    void on_body(const Transaction& tx, bool failed);
    /// The transaction is over.
    void on_outcome(const Outcome<>& outcome);

    /// Whether the store said this, now or in an earlier transaction, in whatever context it was put since.
    [[nodiscard]] bool is(const Error& error) const noexcept;

private:
    std::vector<Error> said_;     ///< By each transaction that it did not commit; the last few.
    std::optional<Error> heard_;  ///< In the body that ran last.
    bool body_failed_ = false;    ///< The body itself, and not what came after it.
};

/// What an Error means that ended a run of a handler. The store's own `rejected` speaks of a statement and not of the
/// command: out of time, it is `unavailable` and leads to another attempt; a violated constraint stays a refusal;
/// anything else is `broken` and for a person.
[[nodiscard]] Error judged(Error error, bool of_store);

/// The reply of a command that failed for good, unless its operation has other words: 422, or 503 if it was never the
/// command's fault, as a problem of RFC 9457. It does not repeat what the store said.
[[nodiscard]] Reply default_refusal(const Error& error, bool of_store, std::string_view correlation_id);

}  // namespace semel
