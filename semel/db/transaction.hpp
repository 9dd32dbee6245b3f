#pragma once

#include "semel/db/session.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace semel {

/// One transaction on one session. Rolls back unless committed; the destructor never talks to the
/// server, it leaves the session as it is for whoever owns it to reset. Neither copied nor moved:
/// it lives where the work is done.
class Transaction {
public:
    /// Begins. A failure to begin surfaces at the first verb that waits.
    Transaction(Session& session, const TransactionOptions& options, Deadline deadline);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    /// Sends the statement with everything posted before it, and waits for its rows.
    template <class... Values>
    [[nodiscard]] Result<Rows> execute(Sql sql, const Values&... values) {
        const std::array<Parameter, sizeof...(Values)> parameters{parameter(values)...};
        return run({.sql = sql, .parameters = parameters, .expected_rows = std::nullopt});
    }

    /// Queues the statement for the next flush and returns at once. Its failure surfaces there.
    template <class... Values>
    void post(Sql sql, const Values&... values) {
        const std::array<Parameter, sizeof...(Values)> parameters{parameter(values)...};
        queue({.sql = sql, .parameters = parameters, .expected_rows = std::nullopt});
    }

    /// As `post`, for an INSERT, UPDATE or DELETE that must change exactly `rows` rows: any other
    /// count fails the whole transaction as a conflict, so COMMIT behind it is never reached.
    template <class... Values>
    void post_expecting(std::int64_t rows, Sql sql, const Values&... values) {
        const std::array<Parameter, sizeof...(Values)> parameters{parameter(values)...};
        queue({.sql = sql, .parameters = parameters, .expected_rows = rows});
    }

    /// Sends what is posted and waits until all of it is done.
    [[nodiscard]] Status flush();
    [[nodiscard]] Status run_script(std::string_view script);

    /// Ends the transaction. Consumes it: nothing can be sent afterwards.
    [[nodiscard]] Outcome<> commit() &&;
    [[nodiscard]] Status rollback() &&;

    [[nodiscard]] Deadline deadline() const noexcept { return deadline_; }
    [[nodiscard]] Dialect dialect() const noexcept { return session_->dialect(); }

private:
    [[nodiscard]] Result<Rows> run(const Statement&);
    void queue(const Statement&);
    /// The first failure decides: everything after it is answered with it, nothing is sent.
    [[nodiscard]] Status usable() const;
    template <class T>
    Result<T> remember(Result<T> result);

    Session* session_;
    Deadline deadline_;
    Status first_failure_;
    bool ended_ = false;
};

}  // namespace semel
