#include "semel/sqlite/writer.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/log.hpp"
#include "semel/base/mutant.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <ranges>
#include <utility>

namespace semel::sqlite {
namespace {

constexpr int primary_of(int extended_code) noexcept { return extended_code & 0xff; }

Error group_undone() {
    Error error;
    error.fault = Fault::conflict;
    error.message = "another transaction of the same group rolled it back; nothing was written";
    return error;
}

Error refuses_everything(const Error& why) {
    Error error;
    error.fault = Fault::broken;
    error.message = "the store stopped after a failed COMMIT or checkpoint; nothing was done";
    error.native = why.native;
    error.cause.code = why.cause.code;
    error.cause.hint = "restart the process: only a fresh start reads what is really on the disk";
    return error;
}

}  // namespace

Limits Writer::own_limits() const noexcept {
    return {.deadline = {}, .lock = Deadline::after(clock_->now(), options_.lock_timeout)};
}

Status Writer::open_savepoint(Member& member) {
    if (!group_.is_open()) {
        if (const int code = connection_->control(Control::begin_immediate, member.limits); code != SQLITE_OK)
            return fail(connection_->failed(code, Phase::connect).within("begin"));
        group_.open(clock_->now());
    }
    if (const int code = connection_->control(Control::savepoint, member.limits); code != SQLITE_OK)
        return fail(connection_->failed(code, Phase::transaction).within("begin"));
    return {};
}

Status Writer::close_savepoint(Status done) {
    // A deferred foreign key passes RELEASE and would fail everyone's COMMIT.
    if (done && connection_->has_open_foreign_keys() && !SEMEL_MUTANT("foreign_keys_left_to_the_group"))
        done = fail(open_foreign_key());
    if (!connection_->in_transaction()) return done;
    const Limits limits = own_limits();
    int code = SQLITE_OK;
    if (!done) code = connection_->control(Control::rollback_to_savepoint, limits);
    if (code == SQLITE_OK) code = connection_->control(Control::release_savepoint, limits);
    if (code == SQLITE_OK) return done;
    // It can neither be kept nor undone alone: give up the group, which then begins again.
    if (done) done = fail(connection_->failed(code, Phase::transaction));
    std::ignore = connection_->control(Control::rollback, limits);
    return done;
}

void Writer::run_job(Lock& lock, Member& member) {
    member.stage = Member::Stage::running;
    ++stats_.jobs;
    release(lock);
    Status done = open_savepoint(member);
    if (done) done = close_savepoint(connection_->run_all(member.work, member.limits));
    lock.lock();
    settle(member, done);
}

void Writer::settle(Member& member, const Status& done) {
    if (!group_.is_open()) {
        SEMEL_ASSERT(!done);
        answer(member, NotCommitted{done.error()}, Member::Ground::stood);
    } else if (!connection_->in_transaction()) {
        group_destroyed(member, done);
    } else {
        if (!done) member.refused = done.error();
        if (done && SEMEL_MUTANT("answered_before_group_commit"))
            return answer(member, Committed<void>{}, Member::Ground::stood);
        member.stage = Member::Stage::joined;
        group_.join(member);
    }
}

void Writer::group_destroyed(Member& culprit, const Status& done) {
    std::vector<Member*> undone = group_.close();
    if (undone.empty()) {
        // It stood alone, on committed ground: its own failure is the answer.
        answer(culprit, NotCommitted{done ? group_undone() : done.error()}, Member::Ground::stood);
        return;
    }
    ++stats_.destroyed;
    undone.push_back(&culprit);
    rerun_alone(std::move(undone));
}

void Writer::rerun_alone(std::vector<Member*> undone) {
    group_.stand_alone(undone.size());
    const Deadline lock_until = own_limits().lock;
    for (Member* member : std::views::reverse(undone)) {
        if (member->kind == Member::Kind::turn) {
            answer(*member, NotCommitted{group_undone()}, Member::Ground::lost);
            continue;
        }
        member->refused.reset();
        member->limits.lock = lock_until;
        member->stage = Member::Stage::queued;
        queue_.push_front(member);
    }
}

void Writer::commit_group(Lock& lock) {
    const std::vector<Member*> members = group_.close();
    const bool keeps = std::ranges::any_of(members, [](const Member* member) { return !member->refused; });
    release(lock);
    SEMEL_FAILPOINT("sqlite.group.before_commit");
    const Limits limits = own_limits();
    const Control what = keeps ? Control::commit : Control::rollback;
    int code = connection_->control(what, limits);
    // BUSY leaves the transaction open, to be tried again.
    while (primary_of(code) == SQLITE_BUSY && connection_->in_transaction() && !limits.lock.passed(clock_->now())) {
        clock_->sleep(clock_->now() + std::chrono::milliseconds(1), {});
        code = connection_->control(what, limits);
    }
    SEMEL_FAILPOINT("sqlite.group.after_commit");
    if (code == SQLITE_OK) {
        lock.lock();
        if (keeps) ++stats_.commits;
        committed(members);
        checkpoint(lock);
        return;
    }
    const Error error = connection_->failed(code, Phase::commit).within("commit");
    int undo = SQLITE_OK;
    if (connection_->in_transaction()) undo = connection_->control(Control::rollback, limits);
    lock.lock();
    if (error.fault == Fault::unknown || undo != SQLITE_OK) {
        poison(lock, members, error);
    } else if (primary_of(code) == SQLITE_CONSTRAINT && members.size() > 1) {
        ++stats_.destroyed;
        rerun_alone(members);
    } else {
        not_committed(members, error);
    }
}

void Writer::committed(const std::vector<Member*>& members) {
    std::uint64_t kept = 0;
    for (Member* member : members) {
        if (!member->refused) {
            ++kept;
            answer(*member, Committed<void>{}, Member::Ground::stood);
            continue;
        }
        if (!member->rolled_back) ++stats_.refused;
        answer(*member, NotCommitted{*std::exchange(member->refused, {})}, Member::Ground::stood);
    }
    stats_.committed += kept;
    stats_.group_largest = std::max(stats_.group_largest, kept);
}

void Writer::not_committed(const std::vector<Member*>& members, const Error& error) {
    for (Member* member : members)
        answer(*member, NotCommitted{member->refused ? group_undone() : error}, Member::Ground::lost);
}

void Writer::poison(Lock& lock, const std::vector<Member*>& members, const Error& why) {
    poisoned_ = refuses_everything(why);
    for (Member* member : members) {
        if (member->refused) {
            answer(*member, NotCommitted{*poisoned_}, Member::Ground::lost);
        } else {
            Error unknown = why;
            unknown.fault = Fault::unknown;
            unknown.message.append("; whether the transaction is durable cannot be told before a restart");
            unknown.cause.hint = poisoned_->cause.hint;
            answer(*member, Unknown{std::move(unknown)}, Member::Ground::lost);
        }
    }
    for (Member* member : std::exchange(queue_, {})) answer(*member, NotCommitted{*poisoned_}, Member::Ground::stood);
    release(lock);
    if (options_.on_fatal) {
        options_.on_fatal(why);
    } else {
        log(LogLevel::error, "sqlite: " + why.describe() + "; every transaction is refused until the process restarts");
    }
    lock.lock();
}

void Writer::checkpoint(Lock& lock) {
    if (connection_->log_pages() < options_.checkpoint_pages) return;
    release(lock);
    SEMEL_FAILPOINT("sqlite.checkpoint");
    const int code = connection_->checkpoint();
    std::optional<Error> failed;
    // A later fsync of the file could succeed without these pages, and the log would then be cut.
    if (primary_of(code) == SQLITE_IOERR) failed = connection_->failed(code, Phase::commit).within("checkpoint");
    lock.lock();
    ++stats_.checkpoints;
    if (failed) poison(lock, {}, *failed);
}

}  // namespace semel::sqlite
