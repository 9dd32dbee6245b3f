#pragma once

#include "semel/db/session.hpp"
#include "semel/sqlite/connection.hpp"
#include "semel/sqlite/member.hpp"
#include "semel/sqlite/store.hpp"

#include <memory>
#include <optional>

namespace semel::sqlite {

/// A session of a Store. Lazy: `begin` only notes. A transaction that has only posted when it
/// commits is executed whole by whoever leads the writer; one that waits for an answer takes the
/// writer's turn; a read-only one reads on a connection of its own and waits for nobody.
class StoreSession final : public Session {
public:
    explicit StoreSession(std::shared_ptr<Store> store) noexcept : store_(std::move(store)) {}
    ~StoreSession() override;

    [[nodiscard]] Status begin(const TransactionOptions& options, Deadline deadline) override;
    void post(const Statement& statement) override;
    void post_ahead(const Statement& statement) override;
    [[nodiscard]] Result<Rows> look(const Statement& statement, Deadline deadline) override;
    [[nodiscard]] Result<Rows> execute(const Statement& statement, Deadline deadline) override;
    [[nodiscard]] Status flush(Deadline deadline) override;
    [[nodiscard]] Status run_script(std::string_view script, Deadline deadline) override;
    [[nodiscard]] Outcome<> commit(Deadline deadline) override;
    [[nodiscard]] Status rollback(Deadline deadline) override;

    /// An answer to COMMIT cannot be lost within a process: there is nothing to mark or resolve.
    [[nodiscard]] Mark mark() const override { return {}; }
    [[nodiscard]] Result<Resolution> resolve(const Mark&, Deadline) override { return Resolution::unknown; }

    [[nodiscard]] Status reset(Deadline deadline) override;
    [[nodiscard]] SessionState state() const noexcept override { return state_; }
    [[nodiscard]] Dialect dialect() const noexcept override { return Dialect::sqlite; }

private:
    [[nodiscard]] bool reads_apart() const noexcept;
    [[nodiscard]] Status usable() const;
    void set_limits(Deadline deadline);
    [[nodiscard]] Status open_reader();
    [[nodiscard]] Status take_turn();
    template <class T>
    [[nodiscard]] Result<T> remember(Result<T> result);
    [[nodiscard]] Outcome<> commit_reader();
    [[nodiscard]] Outcome<> commit_writer();
    void undo() noexcept;
    void end() noexcept;

    std::shared_ptr<Store> store_;
    std::unique_ptr<Connection> reader_;
    Member member_;
    TransactionOptions options_;
    SessionState state_ = SessionState::idle;
    std::optional<Error> failure_;  ///< The first, while `failed`.
    bool has_turn_ = false;
    bool reading_ = false;     ///< The reader is in a transaction.
    bool next_alone_ = false;  ///< The last transaction was undone with its group: rerun it alone.
};

}  // namespace semel::sqlite
