#include "semel/consumer/handling.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/log.hpp"
#include "semel/base/mutant.hpp"
#include "semel/call/journal.hpp"

#include <exception>
#include <utility>

namespace semel::detail {
namespace {

/// Longest try to take a count back. If it cannot be, the message has one attempt less.
constexpr Duration excuse_limit = std::chrono::seconds(5);

/// Longest try to say what became of a parked message: the try itself may have used up its own time.
constexpr Duration keep_limit = std::chrono::seconds(5);

/// What both databases can index, with a consumer's name before it.
constexpr std::size_t message_id_bytes_max = 1024;

Error broken(std::string message, std::string_view native = {}) {
    Error error;
    error.fault = Fault::broken;
    error.message = std::move(message);
    error.native = native;
    return error;
}

constexpr std::string_view told_otherwise = "another message with the same business key told something else";

constexpr std::string_view by_choice = "by choice";

/// Makes `transact` roll back; never leaves this file.
Error rolled_back_by_choice() {
    Error error;
    error.fault = Fault::rejected;
    error.message = "the handler refused the message";
    error.cause.code = by_choice;
    return error;
}

/// It must be parked under some name: of what it says, so that a repeat has the same.
std::string name_of_unnamed(const ReceivedMessage& message) {
    Sha256 sha;
    for (const std::string* part : {&message.id, &message.tenant, &message.topic, &message.key, &message.type,
                                    &message.version, &message.payload, &message.headers})
        sha.add_part(bytes_of(*part));
    return "unnamed " + hex(std::move(sha).finish());
}

}  // namespace

Result<std::unique_ptr<Handling>> Handling::create(Database& database, ConsumerOptions options,
                                                   ConsumerHandler handler) {
    auto inbox = SEMEL_TRY(Inbox::of(database, options.name));
    auto parked = SEMEL_TRY(ParkedMessages::of(database, options.name));
    const auto append = SEMEL_TRY(AppendStatements::from(database.catalogue()));
    const auto statements = SEMEL_TRY(Statements::from(database.catalogue()));
    return std::unique_ptr<Handling>(new Handling(database, std::move(options), std::move(handler), std::move(inbox),
                                                  std::move(parked), append, statements));
}

Handling::Handling(Database& database, ConsumerOptions options, ConsumerHandler handler, Inbox inbox,
                   ParkedMessages parked, const AppendStatements& append, const Statements& statements)
    : database_(&database),
      options_(std::move(options)),
      handler_(std::move(handler)),
      inbox_(std::move(inbox)),
      parked_(std::move(parked)),
      append_(append),
      barrier_(database, statements) {}

Attempted Handling::handle(const Delivery& delivery, const consumer_action::Handle& how, const std::string& last_error,
                           const std::stop_token& stop) {
    const ReceivedMessage& message = delivery.message;
    if (message.id.empty() || message.id.size() > message_id_bytes_max)
        return {.end = Attempted::End::exhausted,
                .error = broken("the message has no id, or one of more than 1,024 bytes: a repeat could not be told")};
    if (!storable(message))
        return {.end = Attempted::End::exhausted,
                .error = broken("the message has a name, key or header that is no text; it is parked as hex")};
    Run run{.counted = how.count, .deadline = Deadline::after(database_->clock().now(), options_.handle_limit)};
    run.stop = stop;
    std::int32_t started = 0;
    if (how.count) {
        const auto counted = inbox_.start(message, how.attempt, kept_text(last_error), run.deadline);
        if (!counted) return failed(counted.error(), 0);
        if (counted->verdict != InboxVerdict::fresh) {
            // Nobody may conclude anything from what the standby does not have yet.
            if (Status safe = barrier_.pass(run.deadline); !safe) return failed(std::move(safe).error(), 0);
            ++duplicates_;
            return {};
        }
        started = counted->started;
        if (started > options_.rules.attempts_max) {
            std::string reason = "begun " + std::to_string(started - 1) + " times without an end";
            if (!counted->last_error.empty()) reason += "; the last error: " + counted->last_error;
            return {.end = Attempted::End::exhausted, .attempts = started - 1, .error = broken(std::move(reason))};
        }
    }
    auto verdict = process(message, run);
    if (verdict && *verdict == InboxVerdict::conflict)
        return {.end = Attempted::End::exhausted, .attempts = started, .error = broken(std::string(told_otherwise))};
    if (verdict) return {};
    // The attempt may have used up its own time.
    const Deadline soon = Deadline::after(database_->clock().now(), excuse_limit);
    if (how.count && !blames_message(verdict.error()) && inbox_.excuse(message, soon)) --started;
    return failed(std::move(verdict).error(), started);
}

Result<InboxVerdict> Handling::process(const ReceivedMessage& message, const Run& run) {
    const InboxEntry entry{
        .message = &message, .business_key = SEMEL_TRY(business_key_of(message)), .content = content_hash(message)};
    TransactOptions options;
    options.transaction = options_.transaction;
    options.transaction.marked = false;  // The inbox's primary key resolves instead.
    options.deadline = run.deadline;
    options.stop = run.stop;
    bool in_doubt = false;
    std::optional<Error> refusal;
    const Outcome<> outcome = transact(*database_, options, [&](Transaction& tx, const Attempt& attempt) -> Status {
        in_doubt = attempt.in_doubt;
        refusal.reset();
        return execute(tx, attempt, entry, run, refusal);
    });
    if (outcome.committed()) {
        SEMEL_FAILPOINT("consumer.after_commit");
        ++processed_;
        return InboxVerdict::fresh;
    }
    if (!Inbox::refused(outcome.error())) {
        Error error = refusal && outcome.error().cause.code == by_choice ? *std::move(refusal) : outcome.error();
        // It may still commit: whatever the last attempt failed with says nothing about the message.
        if (outcome.unknown()) error.fault = Fault::unknown;
        return fail(std::move(error));
    }
    const InboxVerdict verdict = SEMEL_TRY(inbox_.verdict(outcome.error(), entry, run.deadline));
    SEMEL_TRY(barrier_.pass(run.deadline));
    if (verdict == InboxVerdict::duplicate) ++(in_doubt ? processed_ : duplicates_);
    if (verdict == InboxVerdict::same_fact) ++same_facts_;
    if (verdict == InboxVerdict::conflict) ++conflicts_;
    return verdict;
}

Status Handling::execute(Transaction& tx, const Attempt& attempt, const InboxEntry& entry, const Run& run,
                         std::optional<Error>& refusal) {
    if (SEMEL_MUTANT("effect_without_inbox_row"))
        tx.settle_by_rerun();
    else if (run.counted)
        inbox_.claim_counted(tx, entry);
    else
        inbox_.claim(tx, entry);
    if (run.redriven) parked_.remove(tx, entry.message->id);
    Outbox outbox(append_, entry.message->tenant, database_->clock(), database_->random(), &options_.check_event);
    ConsumerWork work{.tx = tx, .outbox = outbox, .message = *entry.message, .attempt = attempt};
    if (run.handler_ran != nullptr) *run.handler_ran = true;
    Status done = call_handler(work);
    if (done && !outbox.checked()) done = outbox.checked();
    // A failure counts only if the message was ours to handle: ask, if the handler has not done so by waiting.
    if (!done && !tx.sent() && tx.failure() == nullptr) SEMEL_TRY(tx.flush());
    // The inbox's verdict outranks whatever the handler made of it.
    if (tx.failure() != nullptr && (done || Inbox::refused(*tx.failure()))) return fail(Error(*tx.failure()));
    // Of what else the handler needs the database knows nothing: neither its retries nor its breaker are meant.
    if (!done && tx.failure() == nullptr && done.error().fault != Fault::conflict) {
        refusal = std::move(done).error();
        return fail(rolled_back_by_choice());
    }
    SEMEL_TRY(std::move(done));
    outbox.post_to(tx);
    SEMEL_FAILPOINT("consumer.before_commit");
    return {};
}

Status Handling::call_handler(ConsumerWork& work) const {
    constexpr const char* threw = "the handler threw an exception; nothing of it was kept";
    try {
        return handler_(work);
    } catch (const std::exception& exception) {
        return fail(broken(threw, exception.what()));
    } catch (...) {
        return fail(broken(threw));
    }
}

Result<std::optional<std::string>> Handling::business_key_of(const ReceivedMessage& message) const {
    if (!options_.business_key) return std::nullopt;
    try {
        return options_.business_key(message);
    } catch (const std::exception& exception) {
        return fail(broken("the business key could not be told", exception.what()));
    }
}

Attempted Handling::failed(Error error, std::int32_t attempts) {
    ++failed_;
    return {.end = Attempted::End::failed, .attempts = attempts, .error = std::move(error)};
}

Attempted Handling::park(const Delivery& delivery, const consumer_action::Park& how) {
    ReceivedMessage message = made_storable(delivery.message);
    if (message.id.empty() || message.id.size() > message_id_bytes_max) message.id = name_of_unnamed(message);
    const Deadline deadline = Deadline::after(database_->clock().now(), options_.handle_limit);
    if (Status parked = parked_.park(message, how.attempts, kept_text(how.reason), deadline); !parked)
        return failed(std::move(parked).error(), 0);
    ++parkings_;
    log(LogLevel::warning, "consumer " + options_.name + ": message " + message.id + " is parked: " + how.reason);
    return {};
}

Result<InboxVerdict> Handling::redrive(std::string_view message_id, Deadline deadline) {
    const auto parked = SEMEL_TRY(parked_.look(message_id, deadline));
    if (!parked) return fail(Fault::rejected, "no message of that id is parked");
    auto verdict = retry(*parked, deadline, {}).verdict;
    if (const auto reason = reason_to_keep(verdict)) {
        TransactOptions options;
        options.deadline = Deadline::after(database_->clock().now(), keep_limit);
        const auto kept = transact(*database_, options, [&](Transaction& tx) -> Status {
            parked_.keep(tx, message_id, 1, *reason);
            SEMEL_FAILPOINT("consumer.before_keep");
            return {};
        });
        SEMEL_FAILPOINT("consumer.after_keep");
        // It stays parked all the same; what the handler said is worth more to the caller.
        if (!kept.committed())
            log(LogLevel::warning, "consumer " + options_.name + ": why " + std::string(message_id) +
                                       " stays parked was not kept: " + kept.error().describe());
    }
    return verdict;
}

Handling::Retried Handling::retry(const ParkedMessage& parked, Deadline deadline, const std::stop_token& stop) {
    bool handler_ran = false;
    Run run{.redriven = true, .deadline = deadline};
    run.stop = stop;
    run.handler_ran = &handler_ran;
    auto verdict = process(parked.message, run);
    if (verdict && (*verdict == InboxVerdict::duplicate || *verdict == InboxVerdict::same_fact)) {
        // It needs no person any more.
        TransactOptions options;
        options.deadline = Deadline::after(database_->clock().now(), keep_limit);
        const auto removed = transact(*database_, options, [&](Transaction& tx) -> Status {
            parked_.remove(tx, parked.message.id);
            SEMEL_FAILPOINT("consumer.before_remove");
            return {};
        });
        SEMEL_FAILPOINT("consumer.after_remove");
        if (!removed.committed()) {
            Error error = Error(removed.error()).within("remove a parked message");
            // Whatever it failed with, it is not the message's.
            if (blames_message(error)) error.fault = Fault::unavailable;
            verdict = fail(std::move(error));
        }
    }
    return {.verdict = std::move(verdict), .handler_ran = handler_ran};
}

std::optional<std::string> Handling::reason_to_keep(const Result<InboxVerdict>& verdict) {
    if (verdict) return *verdict == InboxVerdict::conflict ? std::optional<std::string>(told_otherwise) : std::nullopt;
    // A race that was lost, and not run again since someone stopped it, says nothing of the message.
    if (!blames_message(verdict.error()) || verdict.error().cause.stop == Stop::stopped) return std::nullopt;
    return kept_text(verdict.error().describe());
}

void Handling::add_to(ConsumerReport& report) const noexcept {
    report.processed = processed_;
    report.duplicates = duplicates_;
    report.same_facts = same_facts_;
    report.conflicts = conflicts_;
    report.failed = failed_;
    report.parked = parkings_;
}

}  // namespace semel::detail
