#pragma once

#include "semel/db/pool.hpp"
#include "semel/testing/fault_plan.hpp"

#include <functional>
#include <memory>

namespace semel::testing {

/// A database that fails where the plan says: sessions of `connect`, each wrapped in a
/// FaultySession. Connecting is a step like any other. The plan must outlive what is returned.
[[nodiscard]] Connect faulty(Connect connect, FaultPlan& plan);

/// A session that fails where the plan says, and otherwise is the one inside it. A failure that
/// closes destroys the inner session, as a lost connection does: the database rolls its open
/// transaction back.
class FaultySession final : public Session {
public:
    FaultySession(std::unique_ptr<Session> inner, FaultPlan& plan);

    Status begin(const TransactionOptions&, Deadline) override;
    /// A failed `post` surfaces where a real one does: at the next verb that waits.
    void post(const Statement&) override;
    void post_ahead(const Statement&) override;
    Result<Rows> look(const Statement&, Deadline) override;
    Result<Rows> execute(const Statement&, Deadline) override;
    Status flush(Deadline) override;
    Status run_script(std::string_view script, Deadline) override;
    Outcome<> commit(Deadline) override;
    Status rollback(Deadline) override;
    Mark mark() const override;
    Result<Resolution> resolve(const Mark&, Deadline) override;
    Status reset(Deadline) override;
    SessionState state() const noexcept override;
    Dialect dialect() const noexcept override { return dialect_; }

private:
    /// Runs one step with its failure, if it has one, around it.
    template <class T>
    Result<T> around(Step step, const std::function<Result<T>()>& act);
    [[nodiscard]] Error strike(Step step, const StepFailure& failure);
    [[nodiscard]] bool inner_in_transaction() const noexcept;
    /// The failure of an earlier `post`, now that it shows.
    [[nodiscard]] std::optional<Error> surfaced(Deadline deadline);
    void close();

    std::unique_ptr<Session> inner_;  ///< Empty: closed.
    FaultPlan* plan_;
    Dialect dialect_;
    Mark last_mark_;
    std::optional<StepFailure> posted_failure_;
    bool failed_ = false;  ///< In a transaction that can only be rolled back, by our doing.
};

}  // namespace semel::testing
