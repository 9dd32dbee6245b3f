#include "semel/consumer/redriving.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/log.hpp"
#include "semel/call/journal.hpp"

#include <algorithm>
#include <set>

namespace semel::detail {
namespace {

/// One thing that is asked of the database for a request. Short, for whoever stops the consumer waits for it.
constexpr Duration request_limit = std::chrono::seconds(5);

/// What a request may take beside its handler: looking for the message and saying how it ended, with room to spare. Whoever
/// takes longer shares the message with the next to take it, and the inbox decides between them.
constexpr Duration lease_beyond_handling = 3 * request_limit;

/// Longest that a handler is waited for, if it has no limit to speak of.
constexpr Duration handling_max = std::chrono::hours(24);

/// A message that has killed so many processes is not the one to kill another.
constexpr std::int32_t begun_max = 3;

/// Before a request is tried again that was put back so often, and now for this.
Duration pause_after(std::int32_t put_back, const Error& why) {
    constexpr Duration pause_min = std::chrono::seconds(2);
    constexpr Duration pause_max = std::chrono::minutes(1);
    constexpr std::int32_t doublings_max = 5;  // 64 s: more than the longest pause.
    const Duration own = pause_min * (1 << std::clamp(put_back, 0, doublings_max));
    return std::min<Duration>(pause_max, std::max(own, why.cause.retry_after.value_or(Duration::zero())));
}

}  // namespace

Result<std::unique_ptr<Redriving>> Redriving::create(Database& database, Handling& handling) {
    auto requests = SEMEL_TRY(RedriveRequests::of(database, handling.options().name));
    return std::unique_ptr<Redriving>(new Redriving(database, handling, std::move(requests)));
}

Deadline Redriving::soon() const { return Deadline::after(database_->clock().now(), request_limit); }

Result<std::size_t> Redriving::run(const std::stop_token& stop) {
    const Duration lease = std::min(handling_->options().handle_limit, handling_max) + lease_beyond_handling;
    std::size_t ended = 0;
    std::optional<Error> first_error;
    std::set<std::string> had;
    while (!stop.stop_requested()) {
        const auto taken = requests_.take(lease, soon());
        if (!taken) {
            if (!first_error) first_error = taken.error();
            break;
        }
        if (!*taken) break;
        // Whatever becomes of this one, nobody takes it again for a while: the others have their turn.
        Status redriven = redrive(**taken, stop);
        if (redriven)
            ++ended;
        else if (!first_error)
            first_error = std::move(redriven).error().within("redrive " + (*taken)->message_id);
        // Where handlers take longer to fail than what they failed on has to wait, there would be no end of it.
        if (!had.insert((*taken)->message_id).second) break;
    }
    if (first_error) return fail(*std::move(first_error));
    return ended;
}

Status Redriving::redrive(const TakenRedrive& taken, const std::stop_token& stop) {
    if (taken.begun > begun_max)
        return keep(taken, 0,
                    "a redrive was begun " + std::to_string(begun_max) +
                        " times without an end: it may kill its process; ask again to try it again");
    auto parked = handling_->parked().look(taken.message_id, soon());
    if (!parked) return put_back(taken, std::move(parked).error());
    // Somebody else was faster.
    if (!*parked) return requests_.end(taken, soon());
    const Deadline handled = Deadline::after(database_->clock().now(), handling_->options().handle_limit);
    auto retried = handling_->retry(**parked, handled, stop);
    if (const auto reason = Handling::reason_to_keep(retried.verdict)) return keep(taken, 1, *reason);
    // It went, and the request with it.
    if (retried.verdict) return {};
    const Error& error = retried.verdict.error();
    // Time that the handler has used up it would use up again. What may have been committed is another matter.
    const bool spent = handled.remaining(database_->clock().now()) <= attempt_min;
    if (retried.handler_ran && spent && error.fault != Fault::unknown)
        return keep(taken, 1, "the handler ran out of its handle_limit: " + error.describe());
    return put_back(taken, error);
}

Status Redriving::keep(const TakenRedrive& taken, std::int32_t attempts_more, const std::string& reason) {
    TransactOptions options;
    options.deadline = soon();
    const auto kept = transact(*database_, options, [&](Transaction& tx) -> Status {
        handling_->parked().keep(tx, taken.message_id, attempts_more, kept_text(reason));
        requests_.end(tx, taken);
        SEMEL_FAILPOINT("redrive.before_keep");
        return {};
    });
    if (!kept.committed()) return fail(Error(kept.error()).within("say why it stays parked"));
    SEMEL_FAILPOINT("redrive.after_keep");
    return {};
}

Status Redriving::put_back(const TakenRedrive& taken, Error why) {
    // If that fails too, it is taken again when the lease has run out.
    if (const Status put = requests_.put_back(taken, pause_after(taken.put_back, why), soon()); !put)
        log(LogLevel::info, "consumer: " + put.error().describe());
    return fail(std::move(why));
}

void Redriving::run_every(Duration pause, const std::stop_token& stop) {
    std::string told;  // What is wrong for hours is said once.
    while (database_->clock().sleep(database_->clock().now() + pause, stop) != Wake::stopped) {
        const auto ended = run(stop);
        const std::string wrong = ended ? std::string() : ended.error().describe();
        if (!wrong.empty() && wrong != told)
            log(LogLevel::warning, "consumer " + handling_->options().name + ": " + wrong);
        told = wrong;
    }
}

}  // namespace semel::detail
