#include "semel/cdc/control.hpp"

#include "semel/base/mutant.hpp"
#include "semel/cdc/catalogue.hpp"
#include "semel/db/transact.hpp"
#include "semel/outbox/append.hpp"
#include "semel/outbox/numbers.hpp"
#include "semel/outbox/uuids.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace semel::cdc {
namespace {

/// Longest backfill: a table of some hundred million events is read in that time.
constexpr Duration backfill_limit = std::chrono::minutes(30);

/// Everything here may be done twice.
TransactOptions twice_is_once(Deadline deadline) {
    TransactOptions options;
    options.transaction.marked = false;
    options.deadline = deadline;
    options.lost_commit = LostCommit::rerun;
    return options;
}

Result<Mode> mode_from(std::string_view text) {
    if (text == "polling") return Mode::polling;
    if (text == "cdc") return Mode::cdc;
    if (text == "leaving") return Mode::leaving;
    return fail(Fault::broken, "the outbox is in a mode that this version does not know");
}

/// The number of a transaction travels as text: no signed column holds it.
Result<std::optional<std::uint64_t>> transaction_from(const std::optional<std::string>& text) {
    if (!text) return std::optional<std::uint64_t>();
    return std::optional(SEMEL_TRY(parse_transaction(*text)));
}

std::optional<std::string> text_of(std::optional<std::uint64_t> transaction) {
    if (!transaction) return std::nullopt;
    return std::to_string(*transaction);
}

/// The columns of look.sql.
Result<FeedState> state_from(const Row& row) {
    FeedState state;
    const std::string_view mode = SEMEL_TRY(row.get<std::string_view>(0));
    state.mode = SEMEL_TRY(mode_from(mode));
    state.slot = SEMEL_TRY(row.get<std::optional<std::string>>(1)).value_or("");
    state.made = SEMEL_TRY(row.get<bool>(2));
    const auto low_water = SEMEL_TRY(row.get<std::optional<std::string>>(3));
    state.low_water = SEMEL_TRY(transaction_from(low_water));
    if (const auto lsn = SEMEL_TRY(row.get<std::optional<std::string>>(4)))
        state.confirmed = SEMEL_TRY(Lsn::parse(*lsn));
    state.history = SEMEL_TRY(row.get<std::optional<std::string>>(5)).value_or("");
    const auto flip = SEMEL_TRY(row.get<std::optional<std::string>>(6));
    state.flip = SEMEL_TRY(transaction_from(flip));
    state.publication = SEMEL_TRY(row.get<std::optional<std::int64_t>>(7)).value_or(0);
    state.log_is_logical = SEMEL_TRY(row.get<bool>(8));
    state.history_now = SEMEL_TRY(row.get<std::string>(9));
    state.publication_now = SEMEL_TRY(row.get<std::optional<std::int64_t>>(10));
    state.slot_exists = SEMEL_TRY(row.get<bool>(11));
    state.slot_active = SEMEL_TRY(row.get<bool>(12));
    state.slot_lost = SEMEL_TRY(row.get<bool>(13));
    state.streamed = SEMEL_TRY(row.get<bool>(14));
    return state;
}

/// Gives those that came from the log the ids of their pending rows. What has none was set aside by an earlier attempt
/// whose answer got lost.
template <class Item>
void place(std::vector<Item>& items, const std::map<std::int64_t, std::int64_t>& rows) {
    std::vector<Item> placed;
    for (Item& one : items) {
        const auto row = rows.find(one.row.id);
        if (one.row.id < 0 && row == rows.end()) continue;
        if (one.row.id < 0) one.row.id = row->second;
        placed.push_back(std::move(one));
    }
    items = std::move(placed);
}

std::string all_partitions() {
    std::vector<std::uint32_t> all(partition_count);
    for (std::uint32_t n = 0; n < partition_count; ++n) all[n] = n;
    return numbers(std::span(all), std::identity());
}

}  // namespace

bool FeedState::same_server() const noexcept {
    const std::string_view then(history);
    const std::string_view now(history_now);
    return then.empty() || then.substr(0, then.find('/')) == now.substr(0, now.find('/'));
}

Result<FeedControl> FeedControl::of(Database& database, const Uuid& relay, std::string name, Duration lease) {
    const Catalogue ours = catalogue();
    const Catalogue& shared = database.catalogue();
    const Statements statements{.look = SEMEL_TRY(ours.find("look")),
                                .claim = SEMEL_TRY(ours.find("claim")),
                                .backfill = SEMEL_TRY(ours.find("backfill")),
                                .restored = SEMEL_TRY(ours.find("restored")),
                                .slot_made = SEMEL_TRY(ours.find("slot_made")),
                                .slot_drop = SEMEL_TRY(ours.find("slot_drop")),
                                .polled = SEMEL_TRY(ours.find("polled")),
                                .own = SEMEL_TRY(ours.find("own")),
                                .partitions = SEMEL_TRY(ours.find("partitions")),
                                .heartbeat = SEMEL_TRY(ours.find("heartbeat")),
                                .seen = SEMEL_TRY(shared.find("outbox_relay_seen")),
                                .flip = SEMEL_TRY(ours.find("flip")),
                                .flip_noted = SEMEL_TRY(ours.find("flip_noted")),
                                .end = SEMEL_TRY(ours.find("end")),
                                .leave = SEMEL_TRY(ours.find("leave")),
                                .relay_leave = SEMEL_TRY(shared.find("outbox_relay_leave")),
                                .release = SEMEL_TRY(shared.find("partition_release")),
                                .fence = SEMEL_TRY(ours.find("fence")),
                                .plan = SEMEL_TRY(shared.find("pending_plan")),
                                .copy = SEMEL_TRY(ours.find("pending_copy")),
                                .pending_of = SEMEL_TRY(ours.find("pending_of")),
                                .held = SEMEL_TRY(ours.find("held")),
                                .replicated = SEMEL_TRY(ours.find("replicated")),
                                .snapshot = SEMEL_TRY(ours.find("snapshot")),
                                .visible = SEMEL_TRY(ours.find("visible")),
                                .lose = SEMEL_TRY(ours.find("lose"))};
    return FeedControl(database, statements, relay, std::move(name),
                       std::chrono::ceil<std::chrono::milliseconds>(lease).count());
}

FeedControl::FeedControl(Database& database, const Statements& statements, const Uuid& relay, std::string name,
                         std::int64_t lease_milliseconds)
    : database_(&database),
      statements_(statements),
      relay_(relay),
      name_(std::move(name)),
      lease_milliseconds_(lease_milliseconds) {}

Result<FeedState> FeedControl::look(Deadline deadline) const {
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Result<FeedState> {
        const Rows rows = SEMEL_TRY(tx.execute(statements_.look));
        return state_from(rows.front());
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("look at the feed of the outbox"));
    return std::move(outcome).value();
}

Result<bool> FeedControl::claim(Deadline deadline) const {
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Result<bool> {
        return SEMEL_TRY(tx.execute(statements_.claim, relay_, lease_milliseconds_)).affected() == 1;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("claim the feed of the outbox"));
    return outcome.value();
}

Status FeedControl::fence(Transaction& tx) const {
    if (SEMEL_TRY(tx.execute(statements_.fence, relay_)).size() == 1) return {};
    // Not a conflict, by which the transaction would be run again.
    return fail(Fault::rejected, "another relay streams the outbox");
}

Result<std::int64_t> FeedControl::begin(const FeedState& state, const Beginning& from) const {
    const auto low_water = from.restored ? std::nullopt : text_of(state.low_water);
    // It reads the whole table of events, and has all the time that takes: until it is done there is nothing else to do.
    TransactOptions options = twice_is_once(Deadline::after(database_->clock().now(), backfill_limit));
    options.transaction.statement_timeout = backfill_limit;
    auto outcome = transact(*database_, options, [&](Transaction& tx) -> Result<std::int64_t> {
        SEMEL_TRY(fence(tx));
        const auto since = SEMEL_MUTANT("cdc.no_backfill") ? text_of(~std::uint64_t{0} >> 1U) : low_water;
        const Rows copied = SEMEL_TRY(tx.execute(statements_.backfill, since, from.snapshot));
        if (from.restored) tx.post(statements_.restored);
        tx.post_expecting(1, statements_.slot_made, from.start.text(), state.history_now,
                          state.publication_now.value_or(0), from.snapshot);
        return copied.affected();
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("begin to stream the outbox"));
    return outcome.value();
}

Status FeedControl::lose(Deadline deadline) const {
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Status {
        SEMEL_TRY(fence(tx));
        tx.post(statements_.lose, relay_);
        return {};
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("give up the slot"));
    return {};
}

Status FeedControl::drop_slot(const std::string& slot, Deadline deadline) const {
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Status {
        SEMEL_TRY(fence(tx));
        SEMEL_TRY(tx.execute(statements_.slot_drop, slot));
        return {};
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("drop the slot"));
    return {};
}

Status FeedControl::drop_leftover(Deadline deadline) const {
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Status {
        const Rows polled = SEMEL_TRY(tx.execute(statements_.polled));
        if (polled.empty()) return {};
        if (const auto slot = SEMEL_TRY(polled.front().get<std::optional<std::string>>(0)))
            SEMEL_TRY(tx.execute(statements_.slot_drop, *slot));
        return {};
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("drop the slot"));
    return {};
}

Result<std::optional<Partitions::Tended>> FeedControl::own(std::optional<std::uint64_t> low_water, Lsn confirmed,
                                                           bool takes, Deadline deadline) const {
    using Owned = std::optional<Partitions::Tended>;
    const auto lsn = confirmed == Lsn() ? std::nullopt : std::optional(confirmed.text());
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Result<Owned> {
        const Rows owned = SEMEL_TRY(tx.execute(statements_.own, relay_, text_of(low_water), lsn, takes));
        if (owned.empty()) return Owned();
        tx.post(statements_.seen, relay_, name_, lease_milliseconds_);
        tx.post(statements_.heartbeat);
        const Rows partitions = SEMEL_TRY(tx.execute(statements_.partitions, relay_, lease_milliseconds_));
        Partitions::Tended tended;
        tended.share = partition_count;
        for (const Row row : partitions)
            tended.held.push_back(
                {.partition = SEMEL_TRY(row.get<std::int32_t>(0)), .epoch = SEMEL_TRY(row.get<std::int64_t>(1))});
        return Owned(std::move(tended));
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("tend the stream"));
    return std::move(outcome).value();
}

Status FeedControl::flip(bool streamed, Deadline deadline) const {
    const auto step = [&](auto body) -> Status {
        auto outcome = transact(*database_, twice_is_once(deadline), body);
        if (!outcome.committed()) return fail(std::move(outcome).error().within("turn the appends"));
        return {};
    };
    // Two transactions: the number that is noted must have been given out after the flip.
    const auto turn = [&](Transaction& tx) -> Status {
        SEMEL_TRY(fence(tx));
        SEMEL_TRY(tx.execute(statements_.flip, static_cast<std::int64_t>(streamed)));
        return {};
    };
    SEMEL_TRY(step(turn));
    if (streamed) return {};
    const auto note = [&](Transaction& tx) -> Status {
        SEMEL_TRY(tx.execute(statements_.flip_noted, relay_));
        return {};
    };
    return step(note);
}

void FeedControl::post_leave(Transaction& tx) const {
    tx.post(statements_.release, relay_, all_partitions());
    tx.post(statements_.relay_leave, relay_);
}

Status FeedControl::end(std::uint64_t low_water, Deadline deadline) const {
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Status {
        tx.post(statements_.end, relay_, text_of(low_water));
        post_leave(tx);
        return {};
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("end the stream"));
    return {};
}

Status FeedControl::leave(Deadline deadline) const {
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Status {
        tx.post(statements_.leave, relay_);
        post_leave(tx);
        return {};
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("leave the stream"));
    return {};
}

void FeedControl::post_copy(Transaction& tx, const std::vector<Copied>& events) const {
    std::vector<Uuid> ids;
    ids.reserve(events.size());
    for (const Copied& one : events) ids.push_back(one.event);
    const std::span all(events);
    tx.post(statements_.plan);
    tx.post(statements_.copy, uuids(ids), numbers(all, &Copied::position), numbers(all, &Copied::aggregate),
            numbers(all, &Copied::partition));
}

Status FeedControl::divert(const std::vector<Copied>& events, Deadline deadline) const {
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Status {
        SEMEL_TRY(fence(tx));
        post_copy(tx, events);
        return {};
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("set events of the log aside"));
    return {};
}

Status FeedControl::settle(Settlement settlement, const std::vector<Copied>& copied, const Pending& pending,
                           Deadline deadline) const {
    const std::span all(copied);
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Status {
        SEMEL_TRY(fence(tx));
        post_copy(tx, copied);
        const Rows found = SEMEL_TRY(
            tx.execute(statements_.pending_of, numbers(all, &Copied::position), numbers(all, &Copied::partition)));
        std::map<Uuid, std::int64_t> rows;
        for (const Row row : found) rows[SEMEL_TRY(row.get<Uuid>(0))] = SEMEL_TRY(row.get<std::int64_t>(1));
        std::map<std::int64_t, std::int64_t> places;
        for (const Copied& one : copied)
            if (const auto row = rows.find(one.event); row != rows.end()) places[one.number] = row->second;
        Settlement placed = settlement;
        place(placed.failures, places);
        place(placed.parked, places);
        pending.post_settlement(tx, placed);
        return {};
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("settle what was published"));
    return {};
}

Result<FeedControl::Held> FeedControl::held(std::size_t max, Deadline deadline) const {
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Result<Held> {
        // First which transactions have ended, then what they left: the second look sees at least as much.
        const Rows snapshot = SEMEL_TRY(tx.execute(statements_.snapshot));
        const std::string text = SEMEL_TRY(snapshot.scalar<std::string>());
        Held held{.aggregates = std::nullopt, .seen = SEMEL_TRY(Snapshot::parse(text))};
        const Rows rows = SEMEL_TRY(tx.execute(statements_.held, static_cast<std::int64_t>(max + 1)));
        if (rows.size() > max) return held;
        held.aggregates.emplace();
        for (const Row row : rows) held.aggregates->insert(SEMEL_TRY(row.get<std::int64_t>(0)));
        return held;
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("look at what is held back"));
    return std::move(outcome).value();
}

Result<bool> FeedControl::all_visible(const std::string& snapshot, Deadline deadline) const {
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Result<bool> {
        return SEMEL_TRY(tx.execute(statements_.visible, snapshot)).scalar<bool>();
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("begin to stream the outbox"));
    return outcome.value();
}

Result<bool> FeedControl::replicated(Deadline deadline) const {
    auto outcome = transact(*database_, twice_is_once(deadline), [&](Transaction& tx) -> Result<bool> {
        return SEMEL_TRY(tx.execute(statements_.replicated)).scalar<bool>();
    });
    if (!outcome.committed()) return fail(std::move(outcome).error().within("look for a synchronous standby"));
    return outcome.value();
}

}  // namespace semel::cdc
