#include "semel/command/worker.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/log.hpp"

#include <algorithm>

namespace semel {

Worker::Worker(LeasedExecutor& executor, const WorkerOptions& options) : executor_(&executor), options_(options) {
    SEMEL_ASSERT(options.threads > 0 && options.poll > Duration::zero());
}

void Worker::start() {
    SEMEL_ASSERT(threads_.empty() && "the worker runs already");
    for (std::size_t i = 0; i < options_.threads; ++i)
        threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
}

void Worker::stop() {
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();
}

void Worker::notify() {
    {
        const std::lock_guard guard(mutex_);
        ++rings_;
    }
    rung_.notify_all();
}

void Worker::run(const std::stop_token& stop) {
    Database& database = executor_->database();
    while (!stop.stop_requested()) {
        std::uint64_t heard = 0;
        {
            const std::lock_guard guard(mutex_);
            heard = rings_;
        }
        const auto ran = run_one();
        if (ran && *ran) continue;
        if (!ran) log(LogLevel::warning, "worker: " + ran.error().describe());
        // From half to one and a half of the interval.
        const auto spread = static_cast<std::uint64_t>(options_.poll.count());
        const Duration pause = options_.poll / 2 + Duration(static_cast<std::int64_t>(database.random().below(spread)));
        const Instant until = database.clock().now() + pause;
        std::unique_lock lock(mutex_);
        while (rings_ == heard && !stop.stop_requested())
            if (database.clock().wait(lock, rung_, until, stop) != Wake::notified) break;
    }
}

Result<bool> Worker::run_one() {
    auto taken = SEMEL_TRY(take());
    if (!taken) return false;
    SEMEL_FAILPOINT("worker.after_take");
    // How it ended is in its record; only what nobody could store there is told here.
    const Outcome<Answer> outcome = executor_->go_on(*taken);
    if (outcome.unknown())
        log(LogLevel::info,
            "worker: " + taken->command.identity.command_id() + " is left to the sweeper: " + outcome.error().message);
    return true;
}

Result<std::optional<TakenCommand>> Worker::take() {
    Database& database = executor_->database();
    const Operations& operations = executor_->operations();
    if (operations.empty()) return std::nullopt;
    const Uuid owner = new_owner(database.random());
    auto outcome = transact(database, [&](Transaction& tx) -> Result<std::optional<TakenCommand>> {
        const LeaseStatements& statements = executor_->statements();
        const Rows rows =
            SEMEL_TRY(tx.execute(statements.take_due, owner, milliseconds(operations.lease_max()), operations.names()));
        if (rows.empty()) return std::nullopt;
        TakenCommand taken = SEMEL_TRY(taken_from(rows.front(), owner));
        // Now that it is known which operation it is of: its own lease, not the longest of all.
        const LeasedOptions& how = operations.find(taken.command.identity.operation())->options;
        SEMEL_FAILPOINT("worker.before_take");
        tx.post_expecting(1, statements.set_lease, BytesView(taken.lease.identity), taken.lease.epoch, owner,
                          milliseconds(how.lease));
        return taken;
    });
    // Unknown: if it was taken after all, its lease ends without anyone, and the sweeper goes on.
    if (!outcome.committed()) return fail(std::move(outcome).error().within("take a command that is due"));
    return std::move(outcome).value();
}

}  // namespace semel
