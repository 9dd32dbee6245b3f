#include "semel/sqlite/writer.hpp"

#include <utility>

namespace semel::sqlite {
namespace {

Error turn_reclaimed() {
    Error error;
    error.fault = Fault::conflict;
    error.message = "the transaction paused too long while others waited for the writer, and was undone";
    error.cause.timeout = Timeout::transaction;
    error.cause.hint = "do slow work before the transaction begins, or raise StoreOptions::turn_pause_max";
    return error;
}

Error ground_lost() {
    Error error;
    error.fault = Fault::conflict;
    error.message = "what the transaction had read was undone with its group; nothing may be concluded from it";
    return error;
}

/// Makes a savepoint be undone; nobody gets to see it.
Status undone() { return fail(Fault::conflict, "rolled back"); }

}  // namespace

Writer::Writer(std::unique_ptr<Connection> connection, const StoreOptions& options, Clock& clock)
    : connection_(std::move(connection)),
      options_(options),
      clock_(&clock),
      group_(options.group_members_max, options.group_time_max) {}

Outcome<> Writer::commit_job(Member& member) {
    Lock lock(mutex_);
    if (poisoned_) return NotCommitted{*poisoned_};
    member.kind = Member::Kind::job;
    enqueue(member);
    await(lock, member);
    return std::move(member.answer);
}

Status Writer::take_turn(Member& member) {
    Lock lock(mutex_);
    if (poisoned_) return fail(*poisoned_);
    member.kind = Member::Kind::turn;
    enqueue(member);
    await(lock, member);
    if (member.stage == Member::Stage::answered) return fail(member.answer.error());
    lock.unlock();
    Status begun = open_savepoint(member);
    lock.lock();
    turn_busy_ = false;
    turn_until_ = clock_->now() + options_.turn_pause_max;
    if (begun) return begun;
    if (group_.is_open() && !connection_->in_transaction()) group_destroyed(member, begun);
    member.stage = Member::Stage::answered;
    pass_on();
    release(lock);
    return begun;
}

Status Writer::enter(Lock& lock, Member& member) {
    if (member.reclaimed) return fail(turn_reclaimed());
    SEMEL_ASSERT(holder_ == &member && turn_taken_ && "only whoever has the turn may execute");
    turn_busy_ = true;
    lock.unlock();
    return {};
}

template <class T>
Result<T> Writer::leave(Lock& lock, Member& member, Result<T> result) {
    lock.lock();
    turn_busy_ = false;
    turn_until_ = clock_->now() + options_.turn_pause_max;
    if (connection_->in_transaction()) return result;
    Status done;
    if (!result) done = fail(result.error());
    group_destroyed(member, done);
    pass_on();
    release(lock);
    return fail(member.answer.error());
}

Result<Rows> Writer::execute(Member& member, const Statement& statement) {
    Lock lock(mutex_);
    SEMEL_TRY(enter(lock, member));
    const auto run = [&]() -> Result<Rows> {
        SEMEL_TRY(connection_->run_all(member.work, member.limits));
        return connection_->run(statement, member.limits);
    };
    return leave(lock, member, run());
}

Status Writer::flush(Member& member) {
    Lock lock(mutex_);
    SEMEL_TRY(enter(lock, member));
    return leave(lock, member, connection_->run_all(member.work, member.limits));
}

Status Writer::run_script(Member& member, std::string_view script) {
    Lock lock(mutex_);
    SEMEL_TRY(enter(lock, member));
    const auto run = [&]() -> Status {
        SEMEL_TRY(connection_->run_all(member.work, member.limits));
        return connection_->run_script(script, member.limits);
    };
    return leave(lock, member, run());
}

Outcome<> Writer::commit_turn(Member& member) {
    Lock lock(mutex_);
    if (Status entered = enter(lock, member); !entered) return NotCommitted{std::move(entered).error()};
    const Status done = close_savepoint(connection_->run_all(member.work, member.limits));
    lock.lock();
    settle(member, done);
    turn_taken_ = false;
    lead(lock, member);
    await(lock, member);
    return std::move(member.answer);
}

Status Writer::rollback_turn(Member& member) {
    Lock lock(mutex_);
    if (!member.reclaimed && member.stage == Member::Stage::running) {
        SEMEL_TRY(enter(lock, member));
        const Status done = close_savepoint(undone());
        lock.lock();
        if (connection_->in_transaction() && group_.empty()) {
            member.stage = Member::Stage::answered;
            pass_on();
            release(lock);
            return {};
        }
        member.rolled_back = true;
        settle(member, done);
        turn_taken_ = false;
        lead(lock, member);
        await(lock, member);
    }
    if (member.reclaimed || member.ground == Member::Ground::lost) return fail(ground_lost());
    return {};
}

void Writer::abandon_turn(Member& member) noexcept {
    Lock lock(mutex_);
    if (member.reclaimed || member.stage != Member::Stage::running) return;
    turn_busy_ = true;
    lock.unlock();
    const Status done = close_savepoint(undone());
    lock.lock();
    if (!connection_->in_transaction()) group_destroyed(member, done);
    member.stage = Member::Stage::answered;
    pass_on();
    release(lock);
}

Status Writer::health() const {
    const Lock lock(mutex_);
    if (poisoned_) return fail(*poisoned_);
    return {};
}

StoreStats Writer::stats() const {
    const Lock lock(mutex_);
    StoreStats stats = stats_;
    stats.waiting = queue_.size();
    return stats;
}

}  // namespace semel::sqlite
