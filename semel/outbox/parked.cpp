#include "semel/outbox/parked.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/db/transact.hpp"
#include "semel/outbox/append.hpp"

namespace semel {
namespace {

Result<ParkedEvent> parked_from(const Row& row) {
    return ParkedEvent{
        .id = SEMEL_TRY(row.get<Uuid>(0)),
        .position = SEMEL_TRY(row.get<std::int64_t>(1)),
        .partition = SEMEL_TRY(row.get<std::int32_t>(3)),
        .tenant = SEMEL_TRY(row.get<std::string>(4)),
        .aggregate = {.type = SEMEL_TRY(row.get<std::string>(5)), .id = SEMEL_TRY(row.get<std::string>(6))},
        .attempts = SEMEL_TRY(row.get<std::int32_t>(7)),
        .reason = SEMEL_TRY(row.get<std::string>(8)),
        .blocks = SEMEL_TRY(row.get<bool>(9)),
        .parked_at = Timestamp(std::chrono::microseconds(SEMEL_TRY(row.get<std::int64_t>(10))))};
}

}  // namespace

Result<Parked> Parked::of(Database& database) {
    const Catalogue& catalogue = database.catalogue();
    const Statements statements{.list = SEMEL_TRY(catalogue.find("parked_list")),
                                .lock = SEMEL_TRY(catalogue.find("parked_lock")),
                                .redrive = SEMEL_TRY(catalogue.find("parked_redrive")),
                                .forget = SEMEL_TRY(catalogue.find("parked_forget"))};
    return Parked(database, statements);
}

Result<std::vector<ParkedEvent>> Parked::list(std::size_t limit, Deadline deadline) const {
    TransactOptions options;
    options.deadline = deadline;
    options.transaction.access = Access::read_only;
    auto outcome = transact(*database_, options, [&](Transaction& tx) -> Result<std::vector<ParkedEvent>> {
        const Rows rows = SEMEL_TRY(tx.execute(statements_.list, static_cast<std::int64_t>(limit)));
        std::vector<ParkedEvent> events;
        events.reserve(rows.size());
        for (const Row row : rows) events.push_back(SEMEL_TRY(parked_from(row)));
        return events;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("list the parked events"));
    return std::move(outcome).value();
}

Outcome<std::int64_t> Parked::redrive(std::string_view tenant, const Aggregate& aggregate, Deadline deadline) const {
    const AggregatePlace place = place_of(tenant, aggregate);
    TransactOptions options;
    options.deadline = deadline;
    return transact(*database_, options, [&](Transaction& tx) -> Result<std::int64_t> {
        // First the lock, then the look: what was parked until then goes along.
        SEMEL_TRY(tx.execute(statements_.lock, static_cast<std::int64_t>(place.partition)));
        const Rows sent = SEMEL_TRY(tx.execute(statements_.redrive, place.number));
        SEMEL_FAILPOINT("outbox.before_redrive");
        tx.post_expecting(sent.affected(), statements_.forget, place.number);
        return sent.affected();
    });
}

}  // namespace semel
