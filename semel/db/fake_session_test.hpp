#pragma once

#include "semel/db/pool.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace semel {

/// What the fake sessions of one test do, and what was asked of them.
struct FakeServer {
    std::vector<std::string> log;
    std::deque<Error> connect_failures;
    std::deque<Error> execute_failures;
    std::deque<Outcome<>> commits;  ///< Committed when empty.
    std::deque<Status> rollbacks;   ///< Success when empty.
    std::deque<Status> resets;      ///< Success when empty.
    std::deque<Result<Resolution>> resolutions;
    int open = 0;

    [[nodiscard]] std::size_t count(std::string_view what) const {
        std::size_t found = 0;
        for (const auto& line : log) found += line == what ? 1U : 0U;
        return found;
    }
};

inline Error failure(Fault fault, std::string message = "scripted") {
    Error error;
    error.fault = fault;
    error.message = std::move(message);
    return error;
}

template <class T>
T take_or(std::deque<T>& queue, T otherwise) {
    if (queue.empty()) return otherwise;
    T next = std::move(queue.front());
    queue.pop_front();
    return next;
}

class FakeSession final : public Session {
public:
    explicit FakeSession(FakeServer& server) : server_(&server) { ++server.open; }
    ~FakeSession() override { --server_->open; }
    FakeSession(const FakeSession&) = delete;
    FakeSession& operator=(const FakeSession&) = delete;

    Status begin(const TransactionOptions&, Deadline) override {
        server_->log.emplace_back("begin");
        state_ = SessionState::transaction;
        return {};
    }
    void post(const Statement&) override { server_->log.emplace_back("post"); }
    void post_ahead(const Statement&) override { server_->log.emplace_back("post ahead"); }
    Result<Rows> look(const Statement&, Deadline) override {
        server_->log.emplace_back("look");
        return Rows();
    }
    Result<Rows> execute(const Statement&, Deadline) override {
        server_->log.emplace_back("execute");
        if (server_->execute_failures.empty()) return Rows();
        state_ = SessionState::failed;
        return fail(take_or(server_->execute_failures, Error()));
    }
    Status flush(Deadline) override { return {}; }
    Status run_script(std::string_view, Deadline) override { return {}; }
    Outcome<> commit(Deadline) override {
        server_->log.emplace_back("commit");
        Outcome<> outcome = take_or(server_->commits, Outcome<>(Committed<void>{}));
        state_ = outcome.committed() ? SessionState::idle
                 : outcome.unknown() ? SessionState::closed
                                     : SessionState::failed;
        return outcome;
    }
    Status rollback(Deadline) override {
        server_->log.emplace_back("rollback");
        state_ = SessionState::idle;
        return take_or(server_->rollbacks, Status());
    }
    Mark mark() const override {
        Mark mark;
        mark.taken = true;
        mark.transaction = 7;
        return mark;
    }
    Result<Resolution> resolve(const Mark& mark, Deadline) override {
        server_->log.emplace_back("resolve");
        SEMEL_ASSERT(mark.transaction == 7);
        return take_or(server_->resolutions, Result<Resolution>(Resolution::unknown));
    }
    Status reset(Deadline) override {
        server_->log.emplace_back("reset");
        Status status = take_or(server_->resets, Status());
        state_ = status ? SessionState::idle : SessionState::closed;
        return status;
    }
    SessionState state() const noexcept override { return state_; }
    Dialect dialect() const noexcept override { return Dialect::sqlite; }

private:
    FakeServer* server_;
    SessionState state_ = SessionState::idle;
};

inline Connect connect_to(FakeServer& server) {
    return [&server](Deadline) -> Result<std::unique_ptr<Session>> {
        server.log.emplace_back("connect");
        if (!server.connect_failures.empty()) return fail(take_or(server.connect_failures, Error()));
        return std::make_unique<FakeSession>(server);
    };
}

}  // namespace semel
