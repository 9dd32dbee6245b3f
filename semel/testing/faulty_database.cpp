#include "semel/testing/faulty_database.hpp"

#include <utility>

namespace semel::testing {
namespace {

using When = StepFailure::When;

tl::unexpected<Error> only_rollback() {
    return fail(Fault::rejected, "the transaction has failed and can only be rolled back");
}
tl::unexpected<Error> closed() { return fail(Fault::unavailable, "the session is closed"); }

}  // namespace

Connect faulty(Connect connect, FaultPlan& plan) {
    return [connect = std::move(connect), &plan](Deadline deadline) -> Result<std::unique_ptr<Session>> {
        const auto failure = plan.take(Step::connect);
        if (failure && failure->when == When::before) return fail(failure->error);
        auto session = SEMEL_TRY(connect(deadline));
        if (failure) return fail(failure->error);
        return std::make_unique<FaultySession>(std::move(session), plan);
    };
}

FaultySession::FaultySession(std::unique_ptr<Session> inner, FaultPlan& plan)
    : inner_(std::move(inner)), plan_(&plan), dialect_(inner_->dialect()) {}

void FaultySession::close() {
    if (inner_) last_mark_ = inner_->mark();
    inner_.reset();
    posted_failure_.reset();
}

bool FaultySession::inner_in_transaction() const noexcept {
    const SessionState inner = inner_->state();
    return inner == SessionState::transaction || inner == SessionState::failed;
}

Error FaultySession::strike(Step step, const StepFailure& failure) {
    if (failure.closes) {
        close();
    } else {
        failed_ = step == Step::begin || inner_in_transaction();
    }
    return failure.error;
}

std::optional<Error> FaultySession::surfaced(Deadline deadline) {
    const auto failure = std::exchange(posted_failure_, std::nullopt);
    if (!failure || !inner_) return std::nullopt;
    if (failure->when == When::after) {
        if (auto flushed = inner_->flush(deadline); !flushed) return std::move(flushed).error();
    }
    return strike(Step::post, *failure);
}

template <class T>
Result<T> FaultySession::around(Step step, const std::function<Result<T>()>& act) {
    const auto failure = plan_->take(step);
    if (!inner_) return closed();
    if (failed_ && step != Step::rollback && step != Step::reset) return only_rollback();
    if (failure && failure->when == When::before) return fail(strike(step, *failure));
    Result<T> result = act();
    if (failure && result) return fail(strike(step, *failure));
    return result;
}

Status FaultySession::begin(const TransactionOptions& options, Deadline deadline) {
    posted_failure_.reset();
    return around<void>(Step::begin, [&] { return inner_->begin(options, deadline); });
}

void FaultySession::post(const Statement& statement) {
    auto failure = plan_->take(Step::post);
    if (!inner_) return;
    if (!failure || failure->when == When::after) inner_->post(statement);
    if (failure && !posted_failure_) posted_failure_ = std::move(failure);
}

void FaultySession::post_ahead(const Statement& statement) {
    auto failure = plan_->take(Step::post);
    if (!inner_) return;
    if (!failure || failure->when == When::after) inner_->post_ahead(statement);
    if (failure && !posted_failure_) posted_failure_ = std::move(failure);
}

Result<Rows> FaultySession::look(const Statement& statement, Deadline deadline) {
    return around<Rows>(Step::look, [&]() -> Result<Rows> { return inner_->look(statement, deadline); });
}

Result<Rows> FaultySession::execute(const Statement& statement, Deadline deadline) {
    return around<Rows>(Step::execute, [&]() -> Result<Rows> {
        if (auto error = surfaced(deadline)) return fail(*std::move(error));
        return inner_->execute(statement, deadline);
    });
}

Status FaultySession::flush(Deadline deadline) {
    return around<void>(Step::flush, [&]() -> Status {
        if (auto error = surfaced(deadline)) return fail(*std::move(error));
        return inner_->flush(deadline);
    });
}

Status FaultySession::run_script(std::string_view script, Deadline deadline) {
    return around<void>(Step::script, [&]() -> Status {
        if (auto error = surfaced(deadline)) return fail(*std::move(error));
        return inner_->run_script(script, deadline);
    });
}

Outcome<> FaultySession::commit(Deadline deadline) {
    const auto failure = plan_->take(Step::commit);
    if (!inner_) return NotCommitted{closed().value()};
    if (failed_) return NotCommitted{only_rollback().value()};
    if (failure && failure->when == When::before) {
        if (!failure->definite) {
            close();  // A session that lost the answer to COMMIT has lost its connection.
            return Unknown{failure->error};
        }
        return NotCommitted{strike(Step::commit, *failure)};
    }
    if (auto error = surfaced(deadline)) return NotCommitted{*std::move(error)};
    Outcome<> outcome = inner_->commit(deadline);
    if (!failure || !outcome.committed()) return outcome;
    close();
    return Unknown{failure->error};
}

Status FaultySession::rollback(Deadline deadline) {
    return around<void>(Step::rollback, [&]() -> Status {
        posted_failure_.reset();
        failed_ = false;
        // A begin that failed before its effect left nothing to undo.
        if (!inner_in_transaction()) return {};
        return inner_->rollback(deadline);
    });
}

Mark FaultySession::mark() const { return inner_ ? inner_->mark() : last_mark_; }

Result<Resolution> FaultySession::resolve(const Mark& mark, Deadline deadline) {
    return around<Resolution>(Step::resolve, [&] { return inner_->resolve(mark, deadline); });
}

Status FaultySession::reset(Deadline deadline) {
    posted_failure_.reset();
    failed_ = false;
    Status done = around<void>(Step::reset, [&] { return inner_->reset(deadline); });
    if (!done) close();  // By the contract of the seam.
    return done;
}

SessionState FaultySession::state() const noexcept {
    if (!inner_) return SessionState::closed;
    return failed_ ? SessionState::failed : inner_->state();
}

}  // namespace semel::testing
