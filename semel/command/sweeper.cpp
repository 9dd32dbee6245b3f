#include "semel/command/sweeper.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/log.hpp"

namespace semel {

Sweeper::Sweeper(LeasedExecutor& executor, const SweeperOptions& options) : executor_(&executor), options_(options) {
    SEMEL_ASSERT(options.poll > Duration::zero() && options.batch > 0);
}

void Sweeper::start() {
    SEMEL_ASSERT(!thread_.joinable() && "the sweeper runs already");
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Sweeper::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
}

void Sweeper::run(const std::stop_token& stop) {
    Database& database = executor_->database();
    while (!stop.stop_requested()) {
        const auto report = sweep(stop);
        if (!report) log(LogLevel::warning, "sweeper: " + report.error().describe());
        if (report && report->total() >= static_cast<std::int64_t>(options_.batch)) continue;
        std::unique_lock lock(mutex_);
        const Instant until = database.clock().now() + options_.poll;
        while (database.clock().wait(lock, condition_, until, stop) == Wake::notified) {}
    }
}

Result<SweepReport> Sweeper::sweep(const std::stop_token& stop) {
    SweepReport report;
    for (std::size_t i = 0; i < options_.batch && !stop.stop_requested(); ++i) {
        const auto swept = SEMEL_TRY(take());
        if (!swept) break;
        SEMEL_FAILPOINT("sweep.after_take");
        const std::string id = swept->taken.command.identity.command_id();
        switch (swept->decision.action) {
            case SweepAction::wait: ++report.waiting; break;
            case SweepAction::reconcile:
                log(LogLevel::warning, "sweeper: " + id + " needs a person: " + swept->decision.reason);
                ++report.reconcile;
                break;
            case SweepAction::fail: {
                Error error;
                error.fault = Fault::unavailable;
                error.message = swept->decision.reason;
                ++(executor_->give_up(swept->taken, std::move(error)).committed() ? report.failed : report.unfinished);
                break;
            }
            case SweepAction::run:
                ++(executor_->go_on(swept->taken).committed() ? report.finished : report.unfinished);
                break;
        }
    }
    return report;
}

Result<std::optional<Sweeper::Swept>> Sweeper::take() {
    Database& database = executor_->database();
    if (executor_->operations().empty()) return std::nullopt;
    const Uuid owner = new_owner(database.random());
    auto outcome =
        transact(database, [&](Transaction& tx) -> Result<std::optional<Swept>> { return take_in(tx, owner); });
    // Unknown: if it was taken after all, its lease ends without anyone, and it is swept again.
    if (!outcome.committed()) return fail(std::move(outcome).error().within("take a lease that ran out"));
    return std::move(outcome).value();
}

Result<std::optional<Sweeper::Swept>> Sweeper::take_in(Transaction& tx, const Uuid& owner) const {
    const LeaseStatements& statements = executor_->statements();
    const Operations& operations = executor_->operations();
    const Rows rows =
        SEMEL_TRY(tx.execute(statements.take_expired, owner, milliseconds(operations.lease_max()), operations.names()));
    if (rows.empty()) return std::nullopt;
    Swept swept{.taken = SEMEL_TRY(taken_from(rows.front(), owner)), .decision = {}};
    const Lease& lease = swept.taken.lease;
    const LeasedOptions& options = operations.find(swept.taken.command.identity.operation())->options;
    const Journal journal(statements.call);
    const auto calls = SEMEL_TRY(journal.list(tx, lease.identity));
    const Rows steps = SEMEL_TRY(tx.execute(statements.step_count, BytesView(lease.identity)));
    const bool wrote = SEMEL_TRY(steps.scalar<std::int64_t>()) != 0;
    swept.decision = decide(swept.taken.attempts, wrote, calls, options.attempts_max, options.ask);
    SEMEL_FAILPOINT("sweep.before_take");
    const auto post = [&](Sql sql, const auto&... values) {
        tx.post_expecting(1, sql, BytesView(lease.identity), lease.epoch, lease.owner, values...);
    };
    switch (swept.decision.action) {
        case SweepAction::run:
            ++swept.taken.attempts;
            post(statements.begin_run, milliseconds(options.lease));
            break;
        case SweepAction::wait:
            post(statements.yield, milliseconds(swept.decision.wait), kept_text(swept.decision.reason));
            break;
        case SweepAction::reconcile:
            journal.leave(tx, lease.identity);
            post(statements.reconcile, kept_text(swept.decision.reason));
            break;
        case SweepAction::fail: break;  // Under the lease that was just taken.
    }
    return swept;
}

}  // namespace semel
