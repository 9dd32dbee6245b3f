#pragma once

#include "semel/db/database.hpp"
#include "semel/db/transaction.hpp"

#include <concepts>
#include <functional>
#include <optional>
#include <source_location>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace semel {

/// Where a body stands among the attempts of its operation.
struct Attempt {
    std::uint32_t number = 1;
    bool in_doubt = false;  ///< An earlier attempt's COMMIT was lost and is being settled by this one.
};

/// What to do when COMMIT was sent and no answer came.
enum class LostCommit : std::uint8_t {
    resolve,  ///< Find out what became of it before anything else.
    rerun,    ///< Run the body again at once: it carries an identity whose unique key decides. Only
              ///< for such a body; any other would be executed twice.
};

/// Finds out, on a fresh session, what became of a transaction whose COMMIT was not answered.
using Resolve = std::function<Result<Resolution>(Session&, const Mark&, Deadline)>;

struct TransactOptions {
    TransactionOptions transaction;
    Deadline deadline;            ///< Of the whole operation, resolution included; none: the database's.
    std::optional<Policy> retry;  ///< Instead of the database's.
    LostCommit lost_commit = LostCommit::resolve;
    Resolve resolve;       ///< Instead of asking the server by the transaction's mark.
    std::stop_token stop;  ///< Interrupts waiting, never a COMMIT.
    std::source_location place = std::source_location::current();  ///< Named when a session is held too long.
};

/// With less time than this before its deadline, an attempt is not started and COMMIT is not sent: it
/// could hardly be answered, would end in doubt, and would cost a session each time.
inline constexpr Duration attempt_min = std::chrono::milliseconds(5);

namespace detail {

using Body = std::function<Status(Transaction&, const Attempt&)>;
[[nodiscard]] Outcome<> transact(Database& database, const TransactOptions& options, const Body& body);

template <class F>
auto call_body(F& body, Transaction& tx, const Attempt& attempt) {
    if constexpr (std::invocable<F&, Transaction&, const Attempt&>)
        return body(tx, attempt);
    else
        return body(tx);
}

}  // namespace detail

/// Runs `body` in a transaction until it commits, fails for good, or runs out of time.
///
/// `body` takes a Transaction& (and, if it likes, a const Attempt&) and returns a Result<T>; a value
/// means commit, an Error means roll back. Each attempt is a whole new transaction on a session that
/// is given back before any wait, so `body` must read afresh whatever it decides by, and must have no
/// effect outside the transaction. An Error of `body` is retried as its Fault says. An exception of
/// `body` rolls back and passes through.
///
/// Committed: durable, exactly once. NotCommitted: nothing of any attempt is or becomes visible, and
/// the Error says why retrying stopped; with less than `attempt_min` before the deadline nothing is
/// sent at all (Timeout::total). Unknown: the last COMMIT was lost and could not be resolved
/// before the deadline.
template <class F>
[[nodiscard]] auto transact(Database& database, const TransactOptions& options, F&& body) {
    using Returned = decltype(detail::call_body(body, std::declval<Transaction&>(), std::declval<const Attempt&>()));
    using T = typename Returned::value_type;
    if constexpr (std::is_void_v<T>) {
        return detail::transact(database, options, [&](Transaction& tx, const Attempt& attempt) -> Status {
            return detail::call_body(body, tx, attempt);
        });
    } else {
        std::optional<T> value;
        struct Captured {
            F& body;
            std::optional<T>& value;
        } captured{body, value};
        // One reference fits in std::function without an allocation.
        Outcome<> outcome =
            detail::transact(database, options, [&captured](Transaction& tx, const Attempt& attempt) -> Status {
                captured.value = SEMEL_TRY(detail::call_body(captured.body, tx, attempt));
                return {};
            });
        if (outcome.unknown()) return Outcome<T>(Unknown{std::move(outcome).error()});
        if (outcome.not_committed()) return Outcome<T>(NotCommitted{std::move(outcome).error()});
        return Outcome<T>(Committed<T>{*std::move(value)});
    }
}

template <class F>
[[nodiscard]] auto transact(Database& database, F&& body) {
    return transact(database, TransactOptions{}, std::forward<F>(body));
}

}  // namespace semel
