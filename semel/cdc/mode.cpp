#include "semel/cdc/mode.hpp"

#include "semel/cdc/catalogue.hpp"
#include "semel/cdc/control.hpp"
#include "semel/db/transact.hpp"

namespace semel::cdc {
namespace {

Error refusal(std::string message, std::string hint) {
    Error error;
    error.fault = Fault::rejected;
    error.message = std::move(message);
    error.cause.hint = std::move(hint);
    return error;
}

Status check_server(Transaction& tx, const FeedState& state, Sql room, Sql taken, const std::string& slot) {
    if (!state.log_is_logical)
        return fail(refusal("the server's log does not show changes: wal_level is not logical",
                            "set wal_level = logical and restart the server"));
    const Rows rows = SEMEL_TRY(tx.execute(room, slot));
    if (!SEMEL_TRY(rows.scalar<bool>()))
        return fail(refusal("the server has no room for another slot", "raise max_replication_slots, or drop a slot"));
    const Rows found = SEMEL_TRY(tx.execute(taken, slot));
    if (SEMEL_TRY(found.scalar<bool>()))
        return fail(refusal("the slot " + slot + " belongs to another database of this server",
                            "name another one: slots are of the whole server (--slot)"));
    return {};
}

}  // namespace

Status switch_to_cdc(Database& database, const LinkOptions& link, const std::string& slot, Deadline deadline) {
    SEMEL_TRY(check_slot_name(slot));
    const Catalogue ours = catalogue();
    const Sql room = SEMEL_TRY(ours.find("room"));
    const Sql taken = SEMEL_TRY(ours.find("taken"));
    const Sql publish = SEMEL_TRY(ours.find("publish"));
    const Sql unpublish = SEMEL_TRY(ours.find("unpublish"));
    const Sql enter = SEMEL_TRY(ours.find("enter"));
    const FeedControl control = SEMEL_TRY(FeedControl::of(database, Uuid(), "switch", std::chrono::seconds(1)));
    const FeedState state = SEMEL_TRY(control.look(deadline));
    // That the server can be reached for replication is better found out by whoever gives the order.
    if (state.log_is_logical) SEMEL_TRY(Link::connect(link, database.clock(), deadline));
    TransactOptions options;
    options.deadline = deadline;
    const auto outcome = transact(database, options, [&](Transaction& tx) -> Status {
        SEMEL_TRY(check_server(tx, state, room, taken, slot));
        if (!state.publication_now) {
            tx.post(unpublish);
            tx.post(publish);
        }
        const Rows entered = SEMEL_TRY(tx.execute(enter, slot));
        if (entered.empty())
            return fail(refusal("the outbox is on its way back to polling", "wait until it is polled, then switch"));
        return {};
    });
    if (!outcome.committed()) return fail(Error(outcome.error()).within("switch the outbox to cdc"));
    return {};
}

Status switch_to_polling(Database& database, Deadline deadline) {
    const Catalogue ours = catalogue();
    const Sql cancel = SEMEL_TRY(ours.find("cancel"));
    const Sql exit = SEMEL_TRY(ours.find("exit"));
    TransactOptions options;
    options.deadline = deadline;
    const auto outcome = transact(database, options, [&](Transaction& tx) -> Status {
        tx.post(cancel);
        tx.post(exit);
        return {};
    });
    if (!outcome.committed()) return fail(Error(outcome.error()).within("switch the outbox to polling"));
    return {};
}

}  // namespace semel::cdc
