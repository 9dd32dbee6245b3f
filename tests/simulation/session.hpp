#pragma once

#include "semel/db/session.hpp"
#include "tests/simulation/process.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace semel::simulation {

[[nodiscard]] Result<std::unique_ptr<Session>> open_session(Process& process, Deadline deadline);

/// A session of the world's store as a process sees it over a network: each step takes time, during which others go
/// on, and may fail before its effect, after it, or not be heard of until too late. A lost connection undoes its
/// transaction; a COMMIT that is under way may still arrive.
class NetworkSession final : public Session {
public:
    NetworkSession(Process& process, std::unique_ptr<Session> inner)
        : process_(&process), inner_(std::move(inner)), dialect_(inner_->dialect()) {}
    ~NetworkSession() override { close(); }

    Status begin(const TransactionOptions& options, Deadline deadline) override;
    void post(const Statement& statement) override;
    void post_ahead(const Statement& statement) override;
    Result<Rows> look(const Statement& statement, Deadline deadline) override;
    Result<Rows> execute(const Statement& statement, Deadline deadline) override;
    Status flush(Deadline deadline) override;
    Status run_script(std::string_view script, Deadline deadline) override;
    Outcome<> commit(Deadline deadline) override;
    Status rollback(Deadline deadline) override;
    Mark mark() const override { return {}; }
    Result<Resolution> resolve(const Mark&, Deadline) override { return Resolution::unknown; }
    Status reset(Deadline deadline) override;
    SessionState state() const noexcept override;
    Dialect dialect() const noexcept override { return dialect_; }

private:
    /// What happens on the way there; an Error if the step is not done.
    [[nodiscard]] Status arrive(Deadline deadline);
    template <class T, class F>
    [[nodiscard]] Result<T> around(Deadline deadline, F&& act);
    [[nodiscard]] Outcome<> commit_late(Deadline deadline);
    void close() noexcept;

    Process* process_;
    std::unique_ptr<Session> inner_;  ///< Empty: closed.
    Dialect dialect_;
    bool failed_ = false;  ///< In a transaction that can only be rolled back, by our doing.
    bool writes_ = false;  ///< Something was posted or executed since `begin`.
};

}  // namespace semel::simulation
