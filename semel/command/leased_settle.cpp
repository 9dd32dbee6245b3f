#include "semel/command/leased_settle.hpp"

#include "semel/base/failpoint.hpp"

#include <algorithm>
#include <array>

namespace semel {
namespace {

constexpr std::size_t command_id_bytes = 16;

std::string command_id_of(BytesView identity) {
    return "cmd_" + hex(identity.first(std::min(identity.size(), command_id_bytes)));
}

std::string settled_text(LeasedSettlement settlement, const SettledBy& by) {
    return kept_text("settled as " + std::string(name(settlement)) + " by " + by.who + ": " + by.reason);
}

Status fits(const SettledBy& by) {
    if (by.who.empty() || by.reason.empty()) return fail(Fault::rejected, "whoever settles says who they are and why");
    return {};
}

CommandState state_after(LeasedSettlement settlement) noexcept {
    switch (settlement) {
        case LeasedSettlement::confirmed: return CommandState::succeeded;
        case LeasedSettlement::failed: return CommandState::failed;
        case LeasedSettlement::rerun: return CommandState::processing;
    }
    SEMEL_ASSERT(false && "a LeasedSettlement outside its enumeration");
}

/// The columns of a call that a settlement sets.
struct CallAfter {
    CallStatus status = CallStatus::failed;
    Parameter response_status{};
    Parameter response{};
};
CallAfter call_after(LeasedSettlement settlement) {
    if (settlement != LeasedSettlement::confirmed) return {};
    // What the other side said is not known, only that it was done.
    return {.status = CallStatus::confirmed,
            .response_status = Parameter(std::int64_t{0}),
            .response = Parameter(BytesView())};
}

/// The identity of a command in a certain state, locked; or why not.
Result<Bytes> find(Transaction& tx, Sql look, BytesView id, CommandState wanted) {
    Digest first{};
    Digest last;
    last.fill(std::byte{0xff});
    std::ranges::copy(id, first.begin());
    std::ranges::copy(id, last.begin());
    const Rows rows = SEMEL_TRY(tx.execute(look, BytesView(first), BytesView(last)));
    if (rows.empty()) return fail(Fault::rejected, "there is no such command");
    const auto state = SEMEL_TRY(rows.front().get<std::string_view>(1));
    if (state != name(wanted))
        return fail(Fault::rejected, "the command is " + std::string(state) + "; only one that needs reconciliation " +
                                         "is settled by hand");
    return rows.front().get<Bytes>(0);
}

}  // namespace

std::string_view name(LeasedSettlement settlement) noexcept {
    constexpr std::array<std::string_view, 3> names{"confirmed", "failed", "rerun"};
    return names.at(static_cast<std::size_t>(settlement));
}

Result<Unresolved> unresolved(Database& database, Deadline deadline, std::int64_t limit) {
    const Sql commands = SEMEL_TRY(database.catalogue().find("unresolved_commands"));
    const Sql calls = SEMEL_TRY(database.catalogue().find("unresolved_calls"));
    TransactOptions options;
    options.transaction.marked = false;  // It writes nothing.
    options.lost_commit = LostCommit::rerun;
    options.deadline = deadline;
    auto outcome = transact(database, options, [&](Transaction& tx) -> Result<Unresolved> {
        Unresolved found;
        const Rows open_commands = SEMEL_TRY(tx.execute(commands, limit));
        for (const Row row : open_commands) {
            const auto identity = SEMEL_TRY(row.get<Bytes>(0));
            found.commands.push_back({.command_id = command_id_of(identity),
                                      .tenant = SEMEL_TRY(row.get<std::string>(1)),
                                      .caller = SEMEL_TRY(row.get<std::string>(2)),
                                      .operation = SEMEL_TRY(row.get<std::string>(3)),
                                      .key = SEMEL_TRY(row.get<std::string>(4)),
                                      .reason = SEMEL_TRY(row.get<std::string>(5)),
                                      .attempts = SEMEL_TRY(row.get<std::int64_t>(6)),
                                      .age = std::chrono::milliseconds(SEMEL_TRY(row.get<std::int64_t>(7)))});
        }
        const Rows open_calls = SEMEL_TRY(tx.execute(calls, limit));
        for (const Row row : open_calls) {
            const auto identity = SEMEL_TRY(row.get<Bytes>(1));
            const auto state = SEMEL_TRY(row.get<std::string_view>(2));
            found.calls.push_back({.call_id = SEMEL_TRY(row.get<std::string>(0)),
                                   .command_id = command_id_of(identity),
                                   .command_state = SEMEL_TRY(parse_command_state(state)),
                                   .tenant = SEMEL_TRY(row.get<std::string>(3)),
                                   .integration = SEMEL_TRY(row.get<std::string>(4)),
                                   .operation = SEMEL_TRY(row.get<std::string>(5)),
                                   .business_key = SEMEL_TRY(row.get<std::string>(6)),
                                   .external_request_id = SEMEL_TRY(row.get<std::string>(7)),
                                   .last_error = SEMEL_TRY(row.get<std::string>(8)),
                                   .attempt = SEMEL_TRY(row.get<std::int64_t>(9)),
                                   .age = std::chrono::milliseconds(SEMEL_TRY(row.get<std::int64_t>(10)))});
        }
        return found;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("list what needs a person"));
    return std::move(outcome).value();
}

Outcome<> settle(Database& database, std::string_view command_id, LeasedSettlement settlement, const Reply& reply,
                 const SettledBy& by, Deadline deadline, Duration retention) {
    const CommandState after = state_after(settlement);
    SEMEL_ASSERT(allowed(CommandState::needs_reconciliation, after));
    const auto id = parse_command_id(command_id);
    if (!id) return NotCommitted{id.error()};
    const auto headers = encode_headers(reply.headers);
    if (!headers) return NotCommitted{headers.error()};
    TransactOptions options;
    options.deadline = deadline;
    return transact(database, options, [&](Transaction& tx) -> Status {
        SEMEL_TRY(fits(by));
        const Catalogue& catalogue = database.catalogue();
        const Sql look = SEMEL_TRY(catalogue.find("settle_look"));
        const Bytes identity = SEMEL_TRY(find(tx, look, *id, CommandState::needs_reconciliation));
        const CallAfter call = call_after(settlement);
        const std::string text = settled_text(settlement, by);
        tx.post(SEMEL_TRY(catalogue.find("settle_calls")), BytesView(identity), name(call.status), call.response_status,
                call.response, settlement == LeasedSettlement::rerun ? 1 : 0, text);
        if (settlement == LeasedSettlement::rerun)
            tx.post_expecting(1, SEMEL_TRY(catalogue.find("settle_rerun")), BytesView(identity),
                              new_owner(database.random()), text);
        else
            tx.post_expecting(1, SEMEL_TRY(catalogue.find("settle_finish")), BytesView(identity), name(after),
                              reply.status, *headers, bytes_of(reply.body), milliseconds(retention), text);
        SEMEL_FAILPOINT("lease.before_settle");
        tx.post(SEMEL_TRY(catalogue.find("settle_note")), BytesView(identity), nullptr, name(settlement), by.who,
                by.reason);
        return {};
    });
}

Outcome<> settle_call(Database& database, std::string_view call_id, LeasedSettlement settlement, const SettledBy& by,
                      Deadline deadline) {
    TransactOptions options;
    options.deadline = deadline;
    return transact(database, options, [&](Transaction& tx) -> Status {
        SEMEL_TRY(fits(by));
        if (settlement == LeasedSettlement::rerun)
            return fail(Fault::rejected, "a call of a finished command is not made again");
        const Catalogue& catalogue = database.catalogue();
        const Sql look = SEMEL_TRY(catalogue.find("settle_call_look"));
        const Rows rows = SEMEL_TRY(tx.execute(look, call_id));
        if (rows.empty()) return fail(Fault::rejected, "there is no such call");
        const auto identity = SEMEL_TRY(rows.front().get<Bytes>(0));
        const auto status = SEMEL_TRY(rows.front().get<std::string_view>(1));
        const auto state_text = SEMEL_TRY(rows.front().get<std::string_view>(2));
        const CommandState state = SEMEL_TRY(parse_command_state(state_text));
        if (status != name(CallStatus::unknown))
            return fail(Fault::rejected, "the call is " + std::string(status) + "; there is nothing to settle");
        if (!finished(state)) return fail(Fault::rejected, "the call's command is not finished: settle the command");
        const CallAfter after = call_after(settlement);
        tx.post_expecting(1, SEMEL_TRY(catalogue.find("settle_call")), call_id, name(after.status),
                          after.response_status, after.response, settled_text(settlement, by));
        tx.post(SEMEL_TRY(catalogue.find("settle_note")), BytesView(identity), call_id, name(settlement), by.who,
                by.reason);
        return {};
    });
}

}  // namespace semel
