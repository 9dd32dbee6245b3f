#include "semel/outbox/status_events.hpp"

#include "semel/db/transact.hpp"

namespace semel {
namespace {

/// The first columns of outbox_list.sql, outbox_show.sql and outbox_page.sql.
Result<Message> stored_message_from(const Row& row) {
    return Message{.id = SEMEL_TRY(row.get<Uuid>(0)),
                   .tenant = SEMEL_TRY(row.get<std::string>(3)),
                   .aggregate = {.type = SEMEL_TRY(row.get<std::string>(4)),
                                 .id = SEMEL_TRY(row.get<std::string>(5)),
                                 .version = SEMEL_TRY(row.get<std::optional<std::int64_t>>(6))},
                   .type = SEMEL_TRY(row.get<std::string>(7)),
                   .payload = SEMEL_TRY(row.get<std::string>(8)),
                   .headers = SEMEL_TRY(row.get<std::string>(9)),
                   .created_at = Timestamp(std::chrono::microseconds(SEMEL_TRY(row.get<std::int64_t>(10)))),
                   .position = SEMEL_TRY(row.get<std::int64_t>(1)),
                   .partition = SEMEL_TRY(row.get<std::int32_t>(2))};
}

/// And the others of the first two.
Result<EventStatus> status_from(const Row& row) {
    EventStatus status;
    status.message = SEMEL_TRY(stored_message_from(row));
    status.pending = SEMEL_TRY(row.get<bool>(11));
    status.attempts = SEMEL_TRY(row.get<std::int32_t>(12));
    if (const auto wait = SEMEL_TRY(row.get<std::optional<std::int64_t>>(13)); wait && *wait > 0)
        status.next_attempt_in = std::chrono::microseconds(*wait);
    status.last_error = SEMEL_TRY(row.get<std::optional<std::string>>(14)).value_or("");
    status.parked_because = SEMEL_TRY(row.get<std::optional<std::string>>(15));
    return status;
}

template <class T, class... Values>
Result<std::vector<T>> read_stored(Database& database, Sql sql, Result<T> (*from)(const Row&), Deadline deadline,
                                   const Values&... values) {
    TransactOptions options;
    options.deadline = deadline;
    options.transaction.access = Access::read_only;
    auto outcome = transact(database, options, [&](Transaction& tx) -> Result<std::vector<T>> {
        const Rows rows = SEMEL_TRY(tx.execute(sql, values...));
        std::vector<T> events;
        events.reserve(rows.size());
        for (const Row row : rows) events.push_back(SEMEL_TRY(from(row)));
        return events;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("read the events"));
    return std::move(outcome).value();
}

}  // namespace

Result<std::vector<EventStatus>> list_pending(Database& database, std::size_t limit, Deadline deadline) {
    const Sql sql = SEMEL_TRY(database.catalogue().find("outbox_list"));
    return read_stored(database, sql, &status_from, deadline, static_cast<std::int64_t>(limit));
}

Result<std::optional<EventStatus>> show_event(Database& database, const Uuid& id, Deadline deadline) {
    const Sql sql = SEMEL_TRY(database.catalogue().find("outbox_show"));
    auto events = SEMEL_TRY(read_stored(database, sql, &status_from, deadline, id));
    if (events.empty()) return std::optional<EventStatus>();
    return std::optional(std::move(events.front()));
}

Result<std::vector<Message>> page_of_events(Database& database, const EventFilter& filter, const Uuid& after,
                                            Deadline deadline) {
    const Sql sql = SEMEL_TRY(database.catalogue().find("outbox_page"));
    return read_stored(database, sql, &stored_message_from, deadline, filter.type, microseconds_of(filter.since),
                       microseconds_of(filter.until), filter.aggregate_type, filter.aggregate_id, filter.tenant, after,
                       static_cast<std::int64_t>(filter.limit));
}

}  // namespace semel
