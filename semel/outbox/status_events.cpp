#include "semel/outbox/status_events.hpp"

#include "semel/db/transact.hpp"

namespace semel {
namespace {

/// The columns of outbox_list.sql and outbox_show.sql.
Result<EventStatus> event_from(const Row& row) {
    EventStatus status;
    status.message = {.id = SEMEL_TRY(row.get<Uuid>(0)),
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
    status.pending = SEMEL_TRY(row.get<bool>(11));
    status.attempts = SEMEL_TRY(row.get<std::int32_t>(12));
    if (const auto wait = SEMEL_TRY(row.get<std::optional<std::int64_t>>(13)); wait && *wait > 0)
        status.next_attempt_in = std::chrono::microseconds(*wait);
    status.last_error = SEMEL_TRY(row.get<std::optional<std::string>>(14)).value_or("");
    status.parked_because = SEMEL_TRY(row.get<std::optional<std::string>>(15));
    return status;
}

template <class... Values>
Result<std::vector<EventStatus>> read(Database& database, Sql sql, Deadline deadline, const Values&... values) {
    TransactOptions options;
    options.deadline = deadline;
    options.transaction.access = Access::read_only;
    auto outcome = transact(database, options, [&](Transaction& tx) -> Result<std::vector<EventStatus>> {
        const Rows rows = SEMEL_TRY(tx.execute(sql, values...));
        std::vector<EventStatus> events;
        events.reserve(rows.size());
        for (const Row row : rows) events.push_back(SEMEL_TRY(event_from(row)));
        return events;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("read the events"));
    return std::move(outcome).value();
}

}  // namespace

Result<std::vector<EventStatus>> list_pending(Database& database, std::size_t limit, Deadline deadline) {
    const Sql sql = SEMEL_TRY(database.catalogue().find("outbox_list"));
    return read(database, sql, deadline, static_cast<std::int64_t>(limit));
}

Result<std::optional<EventStatus>> show_event(Database& database, const Uuid& id, Deadline deadline) {
    const Sql sql = SEMEL_TRY(database.catalogue().find("outbox_show"));
    auto events = SEMEL_TRY(read(database, sql, deadline, id));
    if (events.empty()) return std::optional<EventStatus>();
    return std::optional(std::move(events.front()));
}

}  // namespace semel
