#include "tests/simulation/shop.hpp"

namespace semel::simulation {
namespace {

void write_down(Transaction& tx, Outbox& outbox, const Transfer& transfer) {
    tx.post("INSERT INTO sim_effect (intent, by_call, amount) VALUES ($1, $2, $3)",
            static_cast<std::int64_t>(transfer.intent), transfer.call, transfer.amount);
    // Two types, since relays treat poison by the type of the aggregate.
    const std::string type = transfer.from % 2 == 0 ? "account" : "order";
    outbox.append({.aggregate = {.type = type, .id = std::to_string(transfer.from)},
                   .type = "money.moved",
                   .payload = R"({"intent":)" + std::to_string(transfer.intent) + R"(,"amount":)" +
                              std::to_string(transfer.amount) + "}"});
}

CommandDecision done(const Transfer& transfer) {
    return Reply{.status = shop_created,
                 .body = reply_body(transfer.intent, transfer.call, transfer.amount),
                 .headers = {{"ETag", "\"1\""}}};
}

}  // namespace

std::string reply_body(std::size_t intent, std::int64_t call, std::int64_t amount) {
    return "intent " + std::to_string(intent) + " by call " + std::to_string(call) + ": " + std::to_string(amount);
}

std::string_view shop_schema() noexcept {
    return R"(
CREATE TABLE sim_account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
INSERT INTO sim_account (id, balance) VALUES (0, 500), (1, 500), (2, 500), (3, 500);
CREATE TABLE sim_effect (intent INTEGER NOT NULL, by_call INTEGER NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE sim_consumed (consumer TEXT NOT NULL, message_id TEXT NOT NULL);
CREATE TABLE sim_note (intent INTEGER NOT NULL);
CREATE TABLE sim_log (n INTEGER PRIMARY KEY, kind INTEGER NOT NULL, a, b, c);
CREATE TRIGGER sim_effect_log AFTER INSERT ON sim_effect BEGIN
    INSERT INTO sim_log (kind, a, b, c) VALUES (0, NEW.intent, NEW.by_call, NEW.amount); END;
CREATE TRIGGER sim_event_log AFTER INSERT ON semel_outbox_event BEGIN
    INSERT INTO sim_log (kind, a, b, c) VALUES (1, NEW.event_id, json_extract(NEW.payload, '$.intent'), NEW.aggregate); END;
CREATE TRIGGER sim_pending_log AFTER INSERT ON semel_outbox_pending BEGIN
    INSERT INTO sim_log (kind, a) VALUES (2, NEW.event_id); END;
CREATE TRIGGER sim_pending_gone_log AFTER DELETE ON semel_outbox_pending BEGIN
    INSERT INTO sim_log (kind, a) VALUES (3, OLD.event_id); END;
CREATE TRIGGER sim_parked_log AFTER INSERT ON semel_outbox_parked BEGIN
    INSERT INTO sim_log (kind, a, b) VALUES (4, NEW.event_id,
        (SELECT owner FROM semel_outbox_partition WHERE partition = NEW.partition)); END;
CREATE TRIGGER sim_unparked_log AFTER DELETE ON semel_outbox_parked BEGIN
    INSERT INTO sim_log (kind, a) VALUES (5, OLD.event_id); END;
CREATE TRIGGER sim_event_gone_log AFTER DELETE ON semel_outbox_event BEGIN
    INSERT INTO sim_log (kind, a, b) VALUES (6, OLD.event_id, OLD.created_at); END;
CREATE TRIGGER sim_record_gone_log AFTER DELETE ON semel_command_record BEGIN
    INSERT INTO sim_log (kind, a, b) VALUES (7, OLD.tenant || '/' || OLD.key, OLD.expires_at); END;
CREATE TRIGGER sim_record_expired_log AFTER UPDATE ON semel_command_record
    WHEN NEW.state = 'expired' AND OLD.state <> 'expired' BEGIN
    INSERT INTO sim_log (kind, a, b) VALUES (8, OLD.tenant || '/' || OLD.key, OLD.expires_at); END;
CREATE TRIGGER sim_consumed_log AFTER INSERT ON sim_consumed BEGIN
    INSERT INTO sim_log (kind, a, b) VALUES (9, NEW.message_id, NEW.consumer); END;
CREATE TRIGGER sim_inbox_gone_log AFTER DELETE ON semel_inbox_message BEGIN
    INSERT INTO sim_log (kind, a, b) VALUES (10, OLD.message_id, OLD.processed_at); END;
CREATE TRIGGER sim_money_log AFTER UPDATE ON sim_account BEGIN
    INSERT INTO sim_log (kind) VALUES (11); END;
CREATE TRIGGER sim_note_log AFTER INSERT ON sim_note BEGIN
    INSERT INTO sim_log (kind, a) VALUES (12, NEW.intent); END;
CREATE TRIGGER sim_taken_over_log AFTER UPDATE OF epoch ON semel_command_record
    WHEN OLD.state = 'processing' AND NEW.epoch > OLD.epoch BEGIN
    INSERT INTO sim_log (kind, a) VALUES (13, OLD.tenant || '/' || OLD.key); END;
CREATE TRIGGER sim_record_failed_log AFTER UPDATE ON semel_command_record
    WHEN NEW.state = 'failed' AND OLD.state <> 'failed' BEGIN
    INSERT INTO sim_log (kind, a) VALUES (14, OLD.tenant || '/' || OLD.key); END;
)";
}

Result<CommandDecision> transfer_blindly(Work& work, const Transfer& transfer) {
    work.tx.post_expecting(1, "UPDATE sim_account SET balance = balance - $1 WHERE id = $2 AND balance >= $1",
                           transfer.amount, transfer.from);
    work.tx.post("UPDATE sim_account SET balance = balance + $1 WHERE id = $2", transfer.amount, transfer.to);
    write_down(work.tx, work.outbox, transfer);
    return done(transfer);
}

Result<CommandDecision> transfer_by_reading(Work& work, const Transfer& transfer) {
    const Rows from = SEMEL_TRY(work.tx.execute("SELECT balance FROM sim_account WHERE id = $1", transfer.from));
    const auto has = SEMEL_TRY(from.scalar<std::int64_t>());
    if (has < transfer.amount)
        return Rejection{.reply = {.status = shop_refused, .body = "too little money"},
                         .replay = transfer.final_refusal ? Replay::yes : Replay::no};
    const Rows to = SEMEL_TRY(work.tx.execute("SELECT balance FROM sim_account WHERE id = $1", transfer.to));
    const auto had = SEMEL_TRY(to.scalar<std::int64_t>());
    work.tx.post("UPDATE sim_account SET balance = $1 WHERE id = $2", has - transfer.amount, transfer.from);
    work.tx.post("UPDATE sim_account SET balance = $1 WHERE id = $2", had + transfer.amount, transfer.to);
    write_down(work.tx, work.outbox, transfer);
    return done(transfer);
}

void write_plainly(Transaction& tx, Outbox& outbox, const Transfer& transfer) {
    tx.post("UPDATE sim_account SET balance = balance - $1 WHERE id = $2", transfer.amount, transfer.from);
    tx.post("UPDATE sim_account SET balance = balance + $1 WHERE id = $2", transfer.amount, transfer.to);
    write_down(tx, outbox, transfer);
    outbox.post_to(tx);
}

Result<CommandDecision> transfer_paid(Work& work, const Transfer& transfer) {
    work.tx.post("UPDATE sim_account SET balance = balance - $1 WHERE id = $2", transfer.amount, transfer.from);
    work.tx.post("UPDATE sim_account SET balance = balance + $1 WHERE id = $2", transfer.amount, transfer.to);
    write_down(work.tx, work.outbox, transfer);
    return done(transfer);
}

Status consume(ConsumerWork& work, std::string_view consumer) {
    work.tx.post("INSERT INTO sim_consumed (consumer, message_id) VALUES ($1, $2)", consumer, work.message.id);
    return {};
}

}  // namespace semel::simulation
