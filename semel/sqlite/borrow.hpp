#pragma once

#include "semel/db/session.hpp"
#include "semel/sqlite/connection.hpp"
#include "semel/sqlite/posted.hpp"

#include <memory>
#include <optional>

namespace semel::sqlite {

/// A session on a connection of the caller's, for one transaction: no group commit, the caller's
/// own durability settings. Foreign keys are enforced meanwhile. One thread at a time; the
/// connection must outlive it and be left alone until `release`.
class BorrowedSession final : public Session {
public:
    ~BorrowedSession() override;

    /// Rolls back what is open and puts back what was changed: foreign_keys, the busy timeout and
    /// the progress handler. The session is closed. The destructor does the same.
    [[nodiscard]] Status release();

    [[nodiscard]] Status begin(const TransactionOptions& options, Deadline deadline) override;
    void post(const Statement& statement) override;
    void post_ahead(const Statement& statement) override;
    [[nodiscard]] Result<Rows> look(const Statement& statement, Deadline deadline) override;
    [[nodiscard]] Result<Rows> execute(const Statement& statement, Deadline deadline) override;
    [[nodiscard]] Status flush(Deadline deadline) override;
    [[nodiscard]] Status run_script(std::string_view script, Deadline deadline) override;
    [[nodiscard]] Outcome<> commit(Deadline deadline) override;
    [[nodiscard]] Status rollback(Deadline deadline) override;
    [[nodiscard]] Mark mark() const override { return {}; }
    [[nodiscard]] Result<Resolution> resolve(const Mark&, Deadline) override { return Resolution::unknown; }
    [[nodiscard]] Status reset(Deadline deadline) override;
    [[nodiscard]] SessionState state() const noexcept override { return state_; }
    [[nodiscard]] Dialect dialect() const noexcept override { return Dialect::sqlite; }

private:
    friend Result<std::unique_ptr<BorrowedSession>> borrow(sqlite3*, Connection::Handlers, Clock&);
    BorrowedSession(std::unique_ptr<Connection> connection, Clock& clock, bool foreign_keys_before) noexcept;

    [[nodiscard]] Limits limits(Deadline deadline) const;
    [[nodiscard]] Status flush_into_transaction(Deadline deadline);
    [[nodiscard]] Status usable() const;
    template <class T>
    [[nodiscard]] Result<T> remember(Result<T> result);
    [[nodiscard]] Status undo();

    std::unique_ptr<Connection> connection_;
    Clock* clock_;
    bool foreign_keys_before_;
    TransactionOptions options_;
    Posted work_;
    SessionState state_ = SessionState::idle;
    std::optional<Error> failure_;
};

/// Borrows a connection. Refused (`rejected`) while a transaction is open on it. SQLite cannot
/// tell which handlers it has: a caller that has set a busy or progress handler of its own, other
/// than sqlite3_busy_timeout, passes Handlers::kept, and then reads are not cancelled at their
/// limits.
[[nodiscard]] Result<std::unique_ptr<BorrowedSession>> borrow(
    sqlite3* database, Connection::Handlers handlers = Connection::Handlers::ours, Clock& clock = system_clock());

}  // namespace semel::sqlite
