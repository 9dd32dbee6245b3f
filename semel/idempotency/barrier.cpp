#include "semel/idempotency/barrier.hpp"

#include "semel/db/transact.hpp"

namespace semel {

Status Barrier::pass(Deadline deadline) {
    Clock& clock = database_->clock();
    std::unique_lock lock(mutex_);
    // The one that is under way may have begun before what the caller saw; the next one has not.
    const std::uint64_t needed = begun_ + 1;
    while (passed_ < needed) {
        if (deadline.passed(clock.now())) {
            Error error;
            error.fault = Fault::unknown;
            error.message = "the synchronous standby did not confirm in time";
            error.cause.timeout = Timeout::total;
            return fail(std::move(error));
        }
        if (running_) {
            std::ignore = clock.wait(lock, changed_, deadline.at(), {});
            continue;
        }
        running_ = true;
        const std::uint64_t mine = ++begun_;
        lock.unlock();
        Status sent = send(deadline);
        lock.lock();
        running_ = false;
        if (sent) passed_ = mine;
        changed_.notify_all();
        if (!sent) return sent;
    }
    return {};
}

Status Barrier::send(Deadline deadline) {
    TransactOptions options;
    options.transaction.marked = false;
    options.deadline = deadline;
    options.lost_commit = LostCommit::rerun;  // It changes nothing: once more is as good as once.
    const Outcome<> outcome = transact(*database_, options, [this](Transaction& tx) -> Status {
        tx.post(statements_.barrier);
        return {};
    });
    if (outcome.committed()) return {};
    Error error = outcome.error();
    error.fault = Fault::unknown;
    return fail(std::move(error).within("wait for the synchronous standby"));
}

std::uint64_t Barrier::sent() const {
    const std::lock_guard guard(mutex_);
    return begun_;
}

}  // namespace semel
