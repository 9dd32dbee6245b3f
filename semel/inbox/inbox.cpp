#include "semel/inbox/inbox.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/db/transact.hpp"

#include <algorithm>
#include <array>

namespace semel {
namespace {

constexpr std::string_view message_key = "semel_inbox_message_pkey";
constexpr std::string_view business_key = "semel_inbox_message_business_key";

TransactOptions until(Deadline deadline) {
    TransactOptions options;
    options.deadline = deadline;
    return options;
}

template <class T>
Result<T> settled(Outcome<T> outcome, std::string_view what) {
    if (!outcome.committed()) return fail(std::move(outcome).error().within(what));
    return std::move(outcome).value();
}

}  // namespace

std::string_view name(InboxVerdict verdict) noexcept {
    constexpr std::array<std::string_view, 5> names{"fresh", "duplicate", "same_fact", "conflict", "parked"};
    return names.at(static_cast<std::size_t>(verdict));
}

Result<Inbox> Inbox::of(Database& database, std::string consumer) {
    constexpr std::size_t name_bytes_max = 200;
    if (consumer.empty() || consumer.size() > name_bytes_max)
        return fail(Fault::rejected, "inbox: a consumer needs a name of 1 to 200 bytes");
    const Catalogue& catalogue = database.catalogue();
    const Statements statements{.insert = SEMEL_TRY(catalogue.find("inbox_insert")),
                                .look = SEMEL_TRY(catalogue.find("inbox_look")),
                                .fact = SEMEL_TRY(catalogue.find("inbox_fact")),
                                .start = SEMEL_TRY(catalogue.find("inbox_start")),
                                .excuse = SEMEL_TRY(catalogue.find("inbox_excuse")),
                                .forget = SEMEL_TRY(catalogue.find("inbox_attempt_forget"))};
    return Inbox(database, std::move(consumer), statements);
}

void Inbox::claim(Transaction& tx, const InboxEntry& entry) const {
    const ReceivedMessage& message = *entry.message;
    tx.post(statements_.insert, consumer_, message.id, message.tenant, message.topic, message.partition, message.offset,
            message.type, message.version, BytesView(entry.content), entry.business_key);
    tx.settle_by_rerun();
}

void Inbox::claim_counted(Transaction& tx, const InboxEntry& entry) const {
    claim(tx, entry);
    tx.post(statements_.forget, consumer_, entry.message->id);
}

bool Inbox::refused(const Error& error) noexcept {
    return error.cause.constraint == message_key || error.cause.constraint == business_key;
}

Result<InboxVerdict> Inbox::verdict(const Error& refusal, const InboxEntry& entry, Deadline deadline) const {
    if (refusal.cause.constraint == message_key) return InboxVerdict::duplicate;
    SEMEL_ASSERT(refusal.cause.constraint == business_key && entry.business_key);
    auto outcome = transact(*database_, until(deadline), [&](Transaction& tx) -> Result<InboxVerdict> {
        const Rows rows =
            SEMEL_TRY(tx.execute(statements_.fact, consumer_, entry.message->tenant, *entry.business_key));
        if (rows.empty()) return fail(Fault::conflict, "who had the business key first is gone again");
        // Both keys may be violated, and the database names only one.
        if (SEMEL_TRY(rows.front().get<std::string>(1)) == entry.message->id) return InboxVerdict::duplicate;
        const Bytes told = SEMEL_TRY(rows.front().get<Bytes>(0));
        return std::ranges::equal(told, entry.content) ? InboxVerdict::same_fact : InboxVerdict::conflict;
    });
    return settled(std::move(outcome), "look who had the business key first");
}

Result<StartedAttempt> Inbox::start(const ReceivedMessage& message, std::int32_t at_least, std::string_view last_error,
                                    Deadline deadline) const {
    auto outcome = transact(*database_, until(deadline), [&](Transaction& tx) -> Result<StartedAttempt> {
        const Rows seen = SEMEL_TRY(tx.execute(statements_.look, consumer_, message.id));
        if (SEMEL_TRY(seen.front().get<std::int64_t>(0)) > 0) return StartedAttempt{.verdict = InboxVerdict::duplicate};
        if (SEMEL_TRY(seen.front().get<std::int64_t>(1)) > 0) return StartedAttempt{.verdict = InboxVerdict::parked};
        const Rows rows = SEMEL_TRY(tx.execute(statements_.start, consumer_, message.id, at_least, last_error));
        SEMEL_FAILPOINT("inbox.before_count");
        return StartedAttempt{.started = SEMEL_TRY(rows.front().get<std::int32_t>(0)),
                              .last_error = SEMEL_TRY(rows.front().get<std::string>(1))};
    });
    if (outcome.committed()) SEMEL_FAILPOINT("inbox.after_count");
    return settled(std::move(outcome), "count an attempt");
}

Status Inbox::excuse(const ReceivedMessage& message, Deadline deadline) const {
    const auto outcome = transact(*database_, until(deadline), [&](Transaction& tx) -> Status {
        tx.post(statements_.excuse, consumer_, message.id);
        SEMEL_FAILPOINT("inbox.before_excuse");
        return {};
    });
    if (!outcome.committed()) return fail(Error(outcome.error()).within("take the count of an attempt back"));
    SEMEL_FAILPOINT("inbox.after_excuse");
    return {};
}

}  // namespace semel
