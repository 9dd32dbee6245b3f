#include "semel/inbox/parked_message.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/db/transact.hpp"

namespace semel {
namespace {

Result<ParkedMessage> parked_from(const Row& row) {
    const Bytes payload = SEMEL_TRY(row.get<Bytes>(8));
    return ParkedMessage{
        .message = {.id = SEMEL_TRY(row.get<std::string>(0)),
                    .tenant = SEMEL_TRY(row.get<std::string>(1)),
                    .topic = SEMEL_TRY(row.get<std::string>(2)),
                    .partition = SEMEL_TRY(row.get<std::optional<std::int64_t>>(3)),
                    .offset = SEMEL_TRY(row.get<std::optional<std::int64_t>>(4)),
                    .key = SEMEL_TRY(row.get<std::string>(5)),
                    .type = SEMEL_TRY(row.get<std::string>(6)),
                    .version = SEMEL_TRY(row.get<std::string>(7)),
                    .payload = std::string(reinterpret_cast<const char*>(payload.data()), payload.size()),
                    .headers = SEMEL_TRY(row.get<std::string>(9))},
        .attempts = SEMEL_TRY(row.get<std::int32_t>(10)),
        .reason = SEMEL_TRY(row.get<std::string>(11)),
        .parked_at = Timestamp(std::chrono::microseconds(SEMEL_TRY(row.get<std::int64_t>(12))))};
}

TransactOptions reading(Deadline deadline) {
    TransactOptions options;
    options.deadline = deadline;
    options.transaction.access = Access::read_only;
    return options;
}

}  // namespace

Result<ParkedMessages> ParkedMessages::of(Database& database, std::string consumer) {
    const Catalogue& catalogue = database.catalogue();
    const Statements statements{.park = SEMEL_TRY(catalogue.find("inbox_park")),
                                .forget = SEMEL_TRY(catalogue.find("inbox_attempt_forget")),
                                .list = SEMEL_TRY(catalogue.find("inbox_parked_list")),
                                .look = SEMEL_TRY(catalogue.find("inbox_parked_look")),
                                .remove = SEMEL_TRY(catalogue.find("inbox_parked_remove")),
                                .forget_request = SEMEL_TRY(catalogue.find("inbox_redrive_forget")),
                                .keep = SEMEL_TRY(catalogue.find("inbox_parked_keep"))};
    return ParkedMessages(database, std::move(consumer), statements);
}

Status ParkedMessages::park(const ReceivedMessage& message, std::int32_t attempts, std::string_view reason,
                            Deadline deadline) const {
    TransactOptions options;
    options.deadline = deadline;
    options.transaction.marked = false;
    options.lost_commit = LostCommit::rerun;  // The primary key decides, and a repeat changes nothing.
    const auto outcome = transact(*database_, options, [&](Transaction& tx) -> Status {
        tx.post(statements_.park, consumer_, message.id, message.tenant, message.topic, message.partition,
                message.offset, message.key, message.type, message.version, bytes_of(message.payload), message.headers,
                attempts, reason);
        tx.post(statements_.forget, consumer_, message.id);
        SEMEL_FAILPOINT("inbox.before_park");
        return {};
    });
    if (!outcome.committed()) return fail(Error(outcome.error()).within("park a message"));
    SEMEL_FAILPOINT("inbox.after_park");
    return {};
}

Result<std::vector<ParkedMessage>> ParkedMessages::list(std::size_t limit, Deadline deadline) const {
    auto outcome = transact(*database_, reading(deadline), [&](Transaction& tx) -> Result<std::vector<ParkedMessage>> {
        const Rows rows = SEMEL_TRY(tx.execute(statements_.list, consumer_, static_cast<std::int64_t>(limit)));
        std::vector<ParkedMessage> messages;
        messages.reserve(rows.size());
        for (const Row row : rows) messages.push_back(SEMEL_TRY(parked_from(row)));
        return messages;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("list the parked messages"));
    return std::move(outcome).value();
}

Result<std::optional<ParkedMessage>> ParkedMessages::look(std::string_view message_id, Deadline deadline) const {
    auto outcome =
        transact(*database_, reading(deadline), [&](Transaction& tx) -> Result<std::optional<ParkedMessage>> {
            const Rows rows = SEMEL_TRY(tx.execute(statements_.look, consumer_, message_id));
            if (rows.empty()) return std::nullopt;
            return SEMEL_TRY(parked_from(rows.front()));
        });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("look for a parked message"));
    return std::move(outcome).value();
}

void ParkedMessages::remove(Transaction& tx, std::string_view message_id) const {
    tx.post(statements_.remove, consumer_, message_id);
    tx.post(statements_.forget_request, consumer_, message_id);
}

void ParkedMessages::keep(Transaction& tx, std::string_view message_id, std::int32_t attempts_more,
                          std::string_view reason) const {
    tx.post(statements_.keep, consumer_, message_id, attempts_more, reason);
}

Result<std::vector<ParkedCount>> count_parked(Database& database, Deadline deadline) {
    const Sql consumers = SEMEL_TRY(database.catalogue().find("inbox_parked_consumers"));
    auto outcome = transact(database, reading(deadline), [&](Transaction& tx) -> Result<std::vector<ParkedCount>> {
        std::vector<ParkedCount> counts;
        const Rows rows = SEMEL_TRY(tx.execute(consumers));
        for (const Row row : rows)
            counts.push_back({.consumer = SEMEL_TRY(row.get<std::string>(0)),
                              .messages = SEMEL_TRY(row.get<std::int64_t>(1)),
                              .oldest = Timestamp(std::chrono::microseconds(SEMEL_TRY(row.get<std::int64_t>(2))))});
        return counts;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("count the parked messages"));
    return std::move(outcome).value();
}

}  // namespace semel
