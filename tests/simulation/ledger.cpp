#include "tests/simulation/ledger.hpp"

#include "tests/simulation/shop.hpp"
#include "tests/simulation/world.hpp"

#include <sqlite3.h>

#include <charconv>
#include <utility>

namespace semel::simulation {
namespace {

std::string_view text_of(sqlite3_stmt* row, int column) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    return text == nullptr ? std::string_view() : std::string_view(text);
}

constexpr int first_column = 2;  // Behind the row's number and its kind.
std::string_view text_a(sqlite3_stmt* row) { return text_of(row, first_column); }
std::string_view text_b(sqlite3_stmt* row) { return text_of(row, first_column + 1); }
std::int64_t int_a(sqlite3_stmt* row) { return sqlite3_column_int64(row, first_column); }
std::int64_t int_b(sqlite3_stmt* row) { return sqlite3_column_int64(row, first_column + 1); }
std::int64_t int_c(sqlite3_stmt* row) { return sqlite3_column_int64(row, first_column + 2); }

std::int64_t micros(Duration duration) {
    return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

}  // namespace

Ledger::Ledger(World& world, sqlite3* database) : world_(&world), database_(database) {
    // A few rows at a time: the driver's progress handler would cancel a read that goes on for long.
    new_rows_ = prepare("SELECT n, kind, a, b, c FROM sim_log WHERE n > ?1 ORDER BY n LIMIT 30");
    sum_ = prepare("SELECT sum(balance) FROM sim_account");
    open_records_ = prepare(
        "SELECT count(*) FROM semel_command_record WHERE state IN ('received', 'processing', 'failed_transient', "
        "'needs_reconciliation')");
    pending_ = prepare("SELECT count(*) FROM (SELECT 1 FROM semel_outbox_pending LIMIT 20)");
    inbox_parked_ = prepare("SELECT count(*) FROM semel_inbox_parked WHERE consumer = ?1 AND message_id = ?2");
}

Ledger::~Ledger() {
    for (sqlite3_stmt* statement : {new_rows_, sum_, open_records_, pending_, inbox_parked_})
        sqlite3_finalize(statement);
}

sqlite3_stmt* Ledger::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    SEMEL_ASSERT(code == SQLITE_OK && "the ledger's own statements");
    return statement;
}

std::int64_t Ledger::number(sqlite3_stmt* query) {
    SEMEL_ASSERT(sqlite3_step(query) == SQLITE_ROW);
    const std::int64_t value = sqlite3_column_int64(query, 0);
    sqlite3_reset(query);
    return value;
}

std::int64_t Ledger::wall() const { return world_->scheduler().wall().time_since_epoch().count(); }

void Ledger::sync() {
    if (sqlite3_get_autocommit(database_) == 0) return;
    if (const int changes = sqlite3_total_changes(database_); std::exchange(changes_, changes) != changes) read_new();
    for (const std::string& relay : std::exchange(committed_, {})) committing_.erase(committing_.find(relay));
    if (seen_.empty()) return;
    for (const auto& judge : std::exchange(seen_, {})) judge();
}

void Ledger::read_new() {
    for (;;) {
        sqlite3_bind_int64(new_rows_, 1, last_row_);
        int rows = 0;
        while (sqlite3_step(new_rows_) == SQLITE_ROW) {
            ++rows;
            last_row_ = sqlite3_column_int64(new_rows_, 0);
            row(sqlite3_column_int(new_rows_, 1), new_rows_);
        }
        sqlite3_reset(new_rows_);
        if (rows < 30) break;
    }
    check_touched();
}

void Ledger::row(int kind, sqlite3_stmt* row) {
    const auto told = [&]() -> Told& {
        touched_events_.emplace(text_a(row));
        return events_[std::string(text_a(row))];
    };
    switch (static_cast<Logged>(kind)) {
        case Logged::effect: return effect(row);
        case Logged::event: return event(row);
        case Logged::pending_added: ++told().pending; return;
        case Logged::pending_removed: --told().pending; return;
        case Logged::parked:
            told().parked = true;
            if (!committing_.contains(text_b(row)))
                world_->violate(4, "event " + std::string(text_a(row)) + " was set aside by one who does not hold it");
            if (world_->broker().acknowledged(text_a(row)))
                world_->violate(4,
                                "event " + std::string(text_a(row)) + " was set aside after the broker had taken it");
            return;
        case Logged::unparked: told().parked = false; return;
        case Logged::event_removed:
            if (!world_->broker().has(text_a(row)) || told().pending > 0 || told().parked)
                world_->violate(11, "retention removed event " + std::string(text_a(row)) + ", which has not left");
            if (int_b(row) + micros(event_kept) > wall()) world_->violate(11, "retention removed an event too early");
            return;
        case Logged::record_removed: return record_forgotten(text_a(row), int_b(row));
        case Logged::record_expired:
            if (int_b(row) > wall()) world_->violate(11, "a reply was dropped before its time");
            return;
        case Logged::consumed:
            if (++told().consumed[std::string(text_b(row))] > 1)
                world_->violate(
                    6, "message " + std::string(text_a(row)) + " had its effect twice at " + std::string(text_b(row)));
            return;
        case Logged::inbox_removed:
            if (int_b(row) + micros(inbox_kept) > wall())
                world_->violate(11, "the inbox forgot a message before its time");
            return;
        case Logged::money: money_moved_ = true; return;
        case Logged::taken_over:
            if (world_->bank().under_way(text_a(row)))
                world_->violate(10, "a command was taken over while a call of it was under way");
            return;
        case Logged::record_failed:
            if (Intent* intent = intent_of(text_a(row))) intent->failed = true;
            return;
        case Logged::note: {
            Intent& intent = intents_.at(static_cast<std::size_t>(int_a(row)));
            if (++intent.notes > 1)
                world_->violate(1, "a step of intent " + std::to_string(intent.number) + " was taken twice");
            return;
        }
    }
}

void Ledger::effect(sqlite3_stmt* row) {
    Intent& intent = intents_.at(static_cast<std::size_t>(int_a(row)));
    touched_intents_.insert(intent.number);
    const std::string name = "intent " + std::to_string(intent.number);
    ++intent.effects;
    intent.by = int_b(row);
    const bool again = intent.kind == Kind::plain ? !plain_calls_.insert(intent.by).second : intent.effects > 1;
    if (again) world_->violate(1, name + " had its effect twice");
    intent.said = int_c(row);
    if (intent.by != 0 && not_committed_.contains(intent.by))
        world_->violate(2, name + " had an effect after its caller was told that it has none");
    if (intent.refused_for_good) world_->violate(7, name + " had an effect after it was refused for good");
}

void Ledger::event(sqlite3_stmt* row) {
    Told& told = events_[std::string(text_a(row))];
    told.aggregate = int_c(row);
    told.position = sqlite3_column_int64(row, 0);
    // Positions of the log follow those of the outbox, as both are drawn by the one writer.
    waiting_[told.aggregate].insert(told.position);
    Intent& intent = intents_.at(static_cast<std::size_t>(int_b(row)));
    ++intent.events;
    touched_intents_.insert(intent.number);
}

void Ledger::record_forgotten(std::string_view tenant_and_key, std::int64_t expires_at) {
    if (expires_at + micros(tombstone_kept) > wall()) world_->violate(11, "a key was forgotten before its time");
    Intent* intent = intent_of(tenant_and_key);
    if (intent == nullptr) return;
    // From here on the key is as good as new.
    intent->effects = 0;
    intent->events = 0;
    intent->notes = 0;
    intent->failed = false;
    intent->told.reset();
    intent->refused_for_good = false;
    intent->settled = false;
    intent->accepted = false;
    world_->bank().forget(tenant_and_key);
}

Intent* Ledger::intent_of(std::string_view tenant_and_key) {
    for (Intent& intent : intents_)
        if (intent.tenant + "/" + intent.key == tenant_and_key) return &intent;
    return nullptr;
}

void Ledger::check_touched() {
    for (const std::size_t one : std::exchange(touched_intents_, {})) {
        const Intent& intent = intents_[one];
        if (intent.effects != intent.events)
            world_->violate(3, "intent " + std::to_string(one) + " has " + std::to_string(intent.effects) +
                                   " effects and " + std::to_string(intent.events) + " events");
    }
    for (const std::string& id : std::exchange(touched_events_, {})) {
        const Told& told = events_[id];
        if (told.pending == 0 && !told.parked && !world_->broker().has(id))
            world_->violate(4, "event " + id + " has not left, is not pending and not parked");
    }
    if (std::exchange(money_moved_, false) && number(sum_) != money_in_all)
        world_->violate(12, "the sum of all accounts is " + std::to_string(number(sum_)));
}

void Ledger::answered(std::size_t intent, std::int64_t call, std::int64_t amount, bool final_refusal,
                      const Outcome<Answer>& outcome) {
    // A refused call must be known before its effect is read.
    const bool rejected = outcome.committed() && outcome.value().standing == Standing::rejected;
    const bool refused = (outcome.not_committed() || rejected) && intents_[intent].atomic();
    if (refused) not_committed_.insert(call);
    seen_.push_back([=, this] { judge(intent, call, amount, final_refusal, outcome); });
    sync();
}

void Ledger::judge(std::size_t number, std::int64_t call, std::int64_t amount, bool final_refusal,
                   const Outcome<Answer>& outcome) {
    Intent& intent = intents_[number];
    const std::string name = "intent " + std::to_string(number);
    if (outcome.unknown()) return;
    if (outcome.not_committed()) {
        const auto verdict = verdict_of(outcome.error());
        if (intent.atomic() && intent.effects > 0 && intent.by == call)
            world_->violate(2, name + ": a caller was told that its effect, which is there, is not");
        if (verdict == ClaimVerdict::mismatch && intent.effects > 0 && intent.said == amount)
            world_->violate(8, name + ": the same payload was called another one");
        return;
    }
    const Answer& answer = outcome.value();
    if (answer.reply.status == shop_created) return judge_success(intent, call, amount, answer.reply.body);
    const bool stored = final_refusal || answer.standing == Standing::replayed || !intent.atomic();
    if (!stored) return;
    if (intent.effects > 0 && !intent.settled) world_->violate(7, name + " was refused for good, and has an effect");
    intent.refused_for_good = true;
}

void Ledger::judge_success(Intent& intent, std::int64_t call, std::int64_t amount, const std::string& body) {
    if (intent.settled) return;
    const std::string name = "intent " + std::to_string(intent.number);
    if (intent.kind == Kind::plain) {
        if (!plain_calls_.contains(call))
            world_->violate(2, name + ": a plain transaction that committed is not there");
        return;
    }
    if (intent.effects == 0) return world_->violate(2, name + ": a caller was told of an effect that is not there");
    if (intent.said != amount)
        return world_->violate(8, name + ": another payload was answered with the reply of the first");
    if (intent.refused_for_good) return world_->violate(7, name + " succeeded after it was refused for good");
    const std::string expected = reply_body(intent.number, intent.by, amount);
    if (intent.atomic() && body != expected)
        return world_->violate(7, name + ": the reply is not that of its effect: " + body + " instead of " + expected);
    if (intent.told && *intent.told != body)
        return world_->violate(7, name + ": two callers were given different replies");
    intent.told = body;
}

void Ledger::published(const Message& message) {
    seen_.push_back([this, id = message.id.text(), aggregate = place_of(message.tenant, message.aggregate).number,
                     position = message.position] { judge_published(id, aggregate, position); });
    sync();
}

void Ledger::judge_published(const std::string& id, std::int64_t aggregate, std::int64_t) {
    const auto found = events_.find(id);
    if (found == events_.end()) return world_->violate(3, "event " + id + " left, and was never committed");
    if (!left_.insert(id).second) return;
    std::set<std::int64_t>& waiting = waiting_[aggregate];
    if (waiting.empty() || *waiting.begin() != found->second.position)
        world_->violate(5, "event " + id + " left before an earlier one of its aggregate");
    waiting.erase(found->second.position);
}

std::string Ledger::unfinished(std::string before) {
    if (sqlite3_get_autocommit(database_) == 0) return before;
    if (const auto open = number(open_records_); open > 0) return std::to_string(open) + " commands have no end";
    if (const auto left = number(pending_); left > 0) return std::to_string(left) + " or more events are pending";
    if (const std::string text = world_->broker().unfinished(); !text.empty()) return text;
    for (const auto& [id, told] : events_)
        if (told.parked) return "event " + id + " is parked";
    for (const Intent& intent : intents_)
        if (intent.open) return "a caller does not know what became of intent " + std::to_string(intent.number);
    return "";
}

void Ledger::check_end() {
    for (const auto& [id, told] : events_) {
        if (!world_->broker().has(id)) world_->violate(4, "event " + id + " never left");
        for (const std::string_view consumer : consumers) {
            const auto found = told.consumed.find(consumer);
            if (found != told.consumed.end() && found->second == 1) continue;
            sqlite3_bind_text(inbox_parked_, 1, consumer.data(), static_cast<int>(consumer.size()), SQLITE_STATIC);
            sqlite3_bind_text(inbox_parked_, 2, id.data(), static_cast<int>(id.size()), SQLITE_STATIC);
            if (number(inbox_parked_) == 0)
                world_->violate(6, "message " + id + " had no effect at " + std::string(consumer));
        }
    }
    for (const Intent& intent : intents_) {
        const std::string name = "intent " + std::to_string(intent.number);
        if (intent.atomic()) continue;
        const int paid = world_->bank().paid(intent.tenant + "/" + intent.key);
        if (paid > 0 && (intent.refused_for_good || intent.failed) && !intent.settled)
            world_->violate(9, name + " was refused, and the bank has paid");
        if (paid == 0 && intent.effects > 0) world_->violate(9, name + " succeeded, and the bank has not paid");
        if (intent.accepted && intent.effects == 0 && !intent.failed && !intent.settled)
            world_->violate(2, name + " was accepted, and nothing became of it");
    }
}

}  // namespace semel::simulation
