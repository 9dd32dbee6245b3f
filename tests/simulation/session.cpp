#include "tests/simulation/session.hpp"

#include "tests/simulation/world.hpp"

#include <utility>

namespace semel::simulation {
namespace {

Error failed_with(Fault fault, std::string_view message, Timeout timeout = Timeout::none) {
    Error error;
    error.fault = fault;
    error.message = message;
    error.cause.timeout = timeout;
    return error;
}

Error connection_lost() { return failed_with(Fault::unavailable, "the connection was lost"); }
Error process_is_dead() { return failed_with(Fault::unavailable, "the process is dead"); }
Error too_late() { return failed_with(Fault::unavailable, "the database did not answer in time", Timeout::statement); }

}  // namespace

Result<std::unique_ptr<Session>> open_session(Process& process, Deadline) {
    process.travel();
    if (process.killed()) return fail(process_is_dead());
    if (process.world().troubles().strikes(Trouble::fail_before))
        return fail(failed_with(Fault::unavailable, "the database refused the connection"));
    auto inner = SEMEL_TRY(process.world().store().session());
    return std::make_unique<NetworkSession>(process, std::move(inner));
}

void NetworkSession::close() noexcept {
    if (!inner_) return;
    inner_.reset();
    process_->world().scheduler().poke();
}

Status NetworkSession::arrive(Deadline deadline) {
    if (!inner_) return fail(connection_lost());
    if (!process_->alive()) {
        close();
        return fail(process_is_dead());
    }
    process_->travel();
    Troubles& troubles = process_->world().troubles();
    if (process_->killed()) {
        close();
        return fail(process_is_dead());
    }
    if (troubles.strikes(Trouble::stall)) {
        // Up to a minute, and never past the deadline: then the driver gives up.
        const auto long_one = std::chrono::milliseconds(process_->random().below(60'000));
        process_->pause(std::min<Duration>(long_one, deadline.remaining(process_->now())));
    }
    if (!process_->alive() || deadline.passed(process_->now())) {
        close();
        return fail(too_late());
    }
    if (troubles.strikes(Trouble::fail_before)) {
        close();
        return fail(connection_lost());
    }
    return {};
}

template <class T, class F>
Result<T> NetworkSession::around(Deadline deadline, F&& act) {
    if (failed_) return fail(Fault::rejected, "the transaction has failed and can only be rolled back");
    SEMEL_TRY(arrive(deadline));
    Troubles& troubles = process_->world().troubles();
    const bool open = inner_->state() == SessionState::transaction;
    if (open && troubles.strikes(Trouble::conflict)) {
        failed_ = true;
        return fail(failed_with(Fault::conflict, "could not serialize access"));
    }
    Result<T> result = act();
    process_->world().scheduler().poke();
    if (!process_->alive()) {
        close();
        return fail(process_is_dead());
    }
    if (result && troubles.strikes(Trouble::fail_after)) {
        close();
        return fail(connection_lost());
    }
    return result;
}

Status NetworkSession::begin(const TransactionOptions& options, Deadline deadline) {
    if (!process_->alive()) close();
    if (!inner_) return fail(connection_lost());
    failed_ = false;
    writes_ = false;
    return inner_->begin(options, deadline);
}

void NetworkSession::post(const Statement& statement) {
    writes_ = true;
    if (inner_ && !failed_) inner_->post(statement);
}

void NetworkSession::post_ahead(const Statement& statement) {
    writes_ = true;
    if (inner_ && !failed_) inner_->post_ahead(statement);
}

Result<Rows> NetworkSession::look(const Statement& statement, Deadline deadline) {
    return around<Rows>(deadline, [&]() -> Result<Rows> { return inner_->look(statement, deadline); });
}

Result<Rows> NetworkSession::execute(const Statement& statement, Deadline deadline) {
    writes_ = true;
    return around<Rows>(deadline, [&]() -> Result<Rows> { return inner_->execute(statement, deadline); });
}

Status NetworkSession::flush(Deadline deadline) {
    return around<void>(deadline, [&] { return inner_->flush(deadline); });
}

Status NetworkSession::run_script(std::string_view script, Deadline deadline) {
    return around<void>(deadline, [&] { return inner_->run_script(script, deadline); });
}

Outcome<> NetworkSession::commit(Deadline deadline) {
    if (failed_) return NotCommitted{failed_with(Fault::rejected, "the transaction has failed")};
    if (!inner_) return NotCommitted{connection_lost()};
    Troubles& troubles = process_->world().troubles();
    const bool lost_on_the_way = troubles.strikes(Trouble::lose_commit);
    const bool late = troubles.strikes(Trouble::late_commit);
    if (Status arrived = arrive(deadline); !arrived) {
        // The driver cannot tell how far it came.
        if (lost_on_the_way) return Unknown{std::move(arrived).error()};
        return NotCommitted{std::move(arrived).error()};
    }
    if (late && writes_) return commit_late(deadline);
    if (lost_on_the_way && process_->random().below(2) == 0) {
        close();
        return Unknown{connection_lost()};
    }
    Ledger& ledger = process_->world().ledger();
    const std::string relay = process_->relay();
    ledger.commits(relay);
    Outcome<> outcome = inner_->commit(deadline);
    ledger.has_committed(relay);
    process_->world().scheduler().poke();
    if (process_->killed()) {
        close();
        return Unknown{process_is_dead()};
    }
    if (outcome.committed() && lost_on_the_way) {
        close();
        return Unknown{connection_lost()};
    }
    return outcome;
}

/// The answer is given up, the COMMIT is not: it is somewhere between here and the server.
Outcome<> NetworkSession::commit_late(Deadline deadline) {
    World& world = process_->world();
    const Duration longest = std::chrono::seconds(30);
    const Duration way(
        static_cast<std::int64_t>(process_->random().below(static_cast<std::uint64_t>(longest.count()))));
    const Instant at = world.scheduler().now() + way;
    auto flying = std::make_shared<std::unique_ptr<Session>>(std::exchange(inner_, nullptr));
    world.scheduler().spawn("late commit of " + process_->name(), at, [&world, flying, at, relay = process_->relay()] {
        world.ledger().commits(relay);
        const Outcome<> outcome = (*flying)->commit(Deadline::at(at + std::chrono::minutes(1)));
        world.ledger().has_committed(relay);
        world.note(outcome.committed() ? "a late COMMIT arrives" : "a late COMMIT is refused");
        flying->reset();
        world.scheduler().poke();
    });
    // The caller waits for a while, as drivers do.
    process_->pause(std::min<Duration>(std::chrono::milliseconds(process_->random().below(2000)),
                                       deadline.remaining(process_->now())));
    return Unknown{failed_with(Fault::unknown, "no answer to COMMIT", Timeout::statement)};
}

Status NetworkSession::rollback(Deadline deadline) {
    if (!process_->alive()) close();
    if (!inner_) return fail(connection_lost());
    failed_ = false;
    Status undone = inner_->rollback(deadline);
    process_->world().scheduler().poke();
    return undone;
}

Status NetworkSession::reset(Deadline deadline) {
    failed_ = false;
    Status done = around<void>(deadline, [&] { return inner_->reset(deadline); });
    if (!done) close();
    return done;
}

SessionState NetworkSession::state() const noexcept {
    if (!inner_) return SessionState::closed;
    return failed_ ? SessionState::failed : inner_->state();
}

}  // namespace semel::simulation
