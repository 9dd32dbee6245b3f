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

    /// As `post`, ahead of everything posted so far. Only while nothing was sent.
    template <class... Values>
    void post_ahead(Sql sql, const Values&... values) {
        const std::array<Parameter, sizeof...(Values)> parameters{parameter(values)...};
        queue_ahead({.sql = sql, .parameters = parameters, .expected_rows = std::nullopt});
    }

    /// Puts this statement ahead of the first flush, if the transaction waits for anything before it
    /// commits. One that only posts never sends it. The values must outlive the transaction.
    template <class... Values>
    void open_with(Sql sql, const Values&... values) {
        SEMEL_ASSERT(!sent_ && sizeof...(Values) <= opening_max);
        opening_ = Opening{.sql = sql, .parameters = {parameter(values)...}, .count = sizeof...(Values)};
    }

    /// Whether it has waited for the database.
    [[nodiscard]] bool sent() const noexcept { return sent_; }
    /// The first failure: what everything after it is answered with.
    [[nodiscard]] const Error* failure() const noexcept { return first_failure_ ? nullptr : &first_failure_.error(); }

    /// Declares that it carries an identity whose unique key decides: should the answer to COMMIT be lost,
    /// `transact` runs the body again instead of asking. Without such a key it would be executed twice.
    void settle_by_rerun() noexcept { settled_by_rerun_ = true; }
    [[nodiscard]] bool settled_by_rerun() const noexcept { return settled_by_rerun_; }

    /// Sends what is posted and waits until all of it is done.
    [[nodiscard]] Status flush();
    [[nodiscard]] Status run_script(std::string_view script);

    /// Ends the transaction. Consumes it: nothing can be sent afterwards.
    [[nodiscard]] Outcome<> commit() &&;
    [[nodiscard]] Status rollback() &&;

    [[nodiscard]] Deadline deadline() const noexcept { return deadline_; }
    [[nodiscard]] Dialect dialect() const noexcept { return session_->dialect(); }

private:
    static constexpr std::size_t opening_max = 4;
    struct Opening {
        Sql sql;
        std::array<Parameter, opening_max> parameters;
        std::size_t count;
    };

    [[nodiscard]] Result<Rows> run(const Statement&);
    void queue(const Statement&);
    void queue_ahead(const Statement&);
    /// Before the first wait.
    void open();
    /// The first failure decides: everything after it is answered with it, nothing is sent.
    [[nodiscard]] Status usable() const;
    template <class T>
    Result<T> remember(Result<T> result);

    Session* session_;
    Deadline deadline_;
    Status first_failure_;
    std::optional<Opening> opening_;
    bool sent_ = false;
    bool settled_by_rerun_ = false;
    bool ended_ = false;
};

}  // namespace semel
