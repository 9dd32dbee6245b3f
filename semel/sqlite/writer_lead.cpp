#include "semel/sqlite/writer.hpp"

#include <algorithm>
#include <utility>

namespace semel::sqlite {
namespace {

bool overdue(const Member& member, Instant now) noexcept {
    return member.limits.deadline.passed(now) || member.limits.lock.passed(now);
}

}  // namespace

void Writer::enqueue(Member& member) {
    member.stage = Member::Stage::queued;
    member.reclaimed = false;
    member.rolled_back = false;
    member.refused.reset();
    member.ground = Member::Ground::stood;
    queue_.push_back(&member);
    if (holder_ == nullptr) holder_ = &member;
}

void Writer::await(Lock& lock, Member& member) {
    while (member.stage != Member::Stage::answered) {
        if (holder_ == &member) {
            if (member.stage == Member::Stage::running) return;
            lead(lock, member);
            continue;
        }
        const Instant now = clock_->now();
        if (may_reclaim(member, now)) {
            reclaim(lock, member);
            if (member.stage == Member::Stage::answered) {
                // Undone with the group it had joined: the lead must not be lost with it.
                pass_on();
                release(lock);
                lock.lock();
            }
            continue;
        }
        if (member.stage == Member::Stage::queued && overdue(member, now)) {
            std::erase(queue_, &member);
            drop(member, now);
            return;
        }
        clock_->wait(lock, *member.wake, wake_at(member, now), {});
    }
}

void Writer::lead(Lock& lock, Member& self) {
    while (self.stage == Member::Stage::queued || self.stage == Member::Stage::joined) {
        const Instant now = clock_->now();
        if (!queue_.empty()) {
            Member& next = *queue_.front();
            if (overdue(next, now)) {
                queue_.pop_front();
                drop(next, now);
                continue;
            }
            if (group_.admits(next, now)) {
                queue_.pop_front();
                if (next.kind == Member::Kind::job) {
                    run_job(lock, next);
                    continue;
                }
                give_turn(next);
                release(lock);
                lock.lock();
                return;
            }
        }
        // Nobody else is here to join, or nobody else may.
        commit_group(lock);
    }
    pass_on();
    release(lock);
    lock.lock();
}

void Writer::give_turn(Member& member) {
    member.stage = Member::Stage::running;
    holder_ = &member;
    turn_taken_ = true;
    turn_busy_ = true;  // Until its thread has begun; only then can it pause.
    ++stats_.turns;
    to_wake_.push_back(member.wake);
}

void Writer::pass_on() {
    turn_taken_ = false;
    holder_ = nullptr;
    if (!queue_.empty()) {
        holder_ = queue_.front();
    } else if (!group_.empty()) {
        holder_ = group_.joined().front();  // Someone must commit for those who are done.
    } else if (group_.is_open()) {
        std::ignore = group_.close();
        std::ignore = connection_->control(Control::rollback, own_limits());
    }
    // Ahead of those who were answered: the disk should not wait for them.
    if (holder_ != nullptr) to_wake_.insert(to_wake_.begin(), holder_->wake);
}

bool Writer::may_reclaim(const Member& by, Instant now) const noexcept {
    // Whoever is done and only waits for COMMIT does not wait past its deadline for a pause of someone else's.
    const bool late = by.stage == Member::Stage::joined && by.limits.deadline.passed(now);
    return turn_taken_ && !turn_busy_ && (late || now >= turn_until_);
}

void Writer::reclaim(Lock& lock, Member& by) {
    Member& pausing = *holder_;
    pausing.reclaimed = true;
    holder_ = &by;
    turn_taken_ = false;
    ++stats_.reclaimed;
    release(lock);
    // From here on the pausing member may be gone: its session has learned that it lost the turn.
    const Status done = close_savepoint(fail(Fault::conflict, "reclaimed"));
    lock.lock();
    if (!connection_->in_transaction()) rerun_alone(group_.close());
}

Instant Writer::wake_at(const Member& member, Instant now) const noexcept {
    const bool pausing = turn_taken_ && !turn_busy_;
    const Instant look_again = pausing ? turn_until_ : Deadline::after(now, options_.turn_pause_max).at();
    if (member.stage == Member::Stage::joined) {
        constexpr Duration poll = std::chrono::milliseconds(10);  // A call in progress does not announce its end.
        const Deadline deadline = member.limits.deadline;
        return std::min(look_again, deadline.passed(now) ? now + poll : deadline.at());
    }
    if (member.stage != Member::Stage::queued) return look_again;
    return std::min(look_again, member.limits.deadline.sooner(member.limits.lock).at());
}

void Writer::drop(Member& member, Instant now) {
    ++stats_.dropped;
    const bool by_deadline = member.limits.deadline.passed(now);
    Error error;
    error.fault = Fault::unavailable;
    error.message = by_deadline ? "the deadline passed while waiting for the writer's turn; nothing was done"
                                : "waited longer than lock_timeout for the writer's turn; nothing was done";
    error.cause.timeout = by_deadline ? Timeout::queue : Timeout::lock;
    answer(member, NotCommitted{std::move(error)}, Member::Ground::stood);
}

void Writer::answer(Member& member, Outcome<> outcome, Member::Ground ground) {
    member.answer = std::move(outcome);
    member.ground = ground;
    member.stage = Member::Stage::answered;
    to_wake_.push_back(member.wake);
}

void Writer::release(Lock& lock) {
    const auto woken = std::exchange(to_wake_, {});
    lock.unlock();
    for (const auto& wake : woken) wake->notify_one();
}

}  // namespace semel::sqlite
