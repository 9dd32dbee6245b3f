#include "semel/inbox/redrive_request.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/id.hpp"
#include "semel/db/transact.hpp"

#include <chrono>

namespace semel {
namespace {

TransactOptions request_until(Deadline deadline) {
    TransactOptions options;
    options.deadline = deadline;
    return options;
}

std::int64_t request_microseconds(Duration duration) {
    return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

}  // namespace

Result<RedriveRequests> RedriveRequests::of(Database& database, std::string consumer) {
    const Catalogue& catalogue = database.catalogue();
    const Statements statements{.ask = SEMEL_TRY(catalogue.find("inbox_redrive_ask")),
                                .look = SEMEL_TRY(catalogue.find("inbox_redrive_look")),
                                .take = SEMEL_TRY(catalogue.find("inbox_redrive_take")),
                                .end = SEMEL_TRY(catalogue.find("inbox_redrive_end")),
                                .put_back = SEMEL_TRY(catalogue.find("inbox_redrive_put_back"))};
    return RedriveRequests(database, std::move(consumer), statements);
}

Result<bool> RedriveRequests::ask(std::string_view message_id, std::string_view actor, Deadline deadline) const {
    auto outcome = transact(*database_, request_until(deadline), [&](Transaction& tx) -> Result<bool> {
        const bool asked = !SEMEL_TRY(tx.execute(statements_.ask, consumer_, message_id, actor)).empty();
        SEMEL_FAILPOINT("inbox.before_ask");
        return asked;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("ask for a redrive"));
    SEMEL_FAILPOINT("inbox.after_ask");
    return outcome.value();
}

Result<std::optional<RedriveRequest>> RedriveRequests::look(std::string_view message_id, Deadline deadline) const {
    TransactOptions options = request_until(deadline);
    options.transaction.access = Access::read_only;
    auto outcome = transact(*database_, options, [&](Transaction& tx) -> Result<std::optional<RedriveRequest>> {
        const Rows rows = SEMEL_TRY(tx.execute(statements_.look, consumer_, message_id));
        if (rows.empty()) return std::nullopt;
        return RedriveRequest{.asked_by = SEMEL_TRY(rows.front().get<std::string>(0)),
                              .begun = SEMEL_TRY(rows.front().get<bool>(1)),
                              .put_back = SEMEL_TRY(rows.front().get<std::int32_t>(2))};
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("look for a request to redrive"));
    return std::move(outcome).value();
}

Result<std::optional<TakenRedrive>> RedriveRequests::take(Duration lease, Deadline deadline) const {
    const std::string taken_as = new_uuid().text();
    auto outcome =
        transact(*database_, request_until(deadline), [&](Transaction& tx) -> Result<std::optional<TakenRedrive>> {
            const Rows rows = SEMEL_TRY(tx.execute(statements_.take, consumer_, taken_as, request_microseconds(lease)));
            if (rows.empty()) return std::nullopt;
            SEMEL_FAILPOINT("inbox.before_take");
            return TakenRedrive{.message_id = SEMEL_TRY(rows.front().get<std::string>(0)),
                                .taken_as = taken_as,
                                .begun = SEMEL_TRY(rows.front().get<std::int32_t>(1)),
                                .put_back = SEMEL_TRY(rows.front().get<std::int32_t>(2))};
        });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("take a request to redrive"));
    if (outcome.value()) SEMEL_FAILPOINT("inbox.after_take");
    return std::move(outcome).value();
}

Status RedriveRequests::end(const TakenRedrive& taken, Deadline deadline) const {
    const auto outcome = transact(*database_, request_until(deadline), [&](Transaction& tx) -> Status {
        end(tx, taken);
        SEMEL_FAILPOINT("inbox.before_end");
        return {};
    });
    if (!outcome.committed()) return fail(Error(outcome.error()).within("end a request to redrive"));
    SEMEL_FAILPOINT("inbox.after_end");
    return {};
}

void RedriveRequests::end(Transaction& tx, const TakenRedrive& taken) const {
    tx.post(statements_.end, consumer_, taken.message_id, taken.taken_as);
}

Status RedriveRequests::put_back(const TakenRedrive& taken, Duration pause, Deadline deadline) const {
    const auto outcome = transact(*database_, request_until(deadline), [&](Transaction& tx) -> Status {
        tx.post(statements_.put_back, consumer_, taken.message_id, taken.taken_as, request_microseconds(pause));
        SEMEL_FAILPOINT("inbox.before_put_back");
        return {};
    });
    if (!outcome.committed()) return fail(Error(outcome.error()).within("put a request to redrive back"));
    SEMEL_FAILPOINT("inbox.after_put_back");
    return {};
}

}  // namespace semel
