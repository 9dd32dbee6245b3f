#include "tests/simulation/mutants.hpp"

#include "semel/base/mutant.hpp"
#include "semel/sqlite/catalogue.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace semel::simulation {
namespace {

constexpr std::array planted{
    PlantedBug{.name = "identity_without_tenant", .what = "two tenants that use one key share its record"},
    PlantedBug{.name = "replay_without_fingerprint",
               .what = "another request under a used key gets the reply of the first"},
    PlantedBug{.name = "absence_believed_after_one_flush",
               .what = "a COMMIT that is still on its way is taken for one that never will be"},
    PlantedBug{.name = "cache_before_commit", .what = "a reply is kept in memory before its COMMIT was acknowledged"},
    PlantedBug{.name = "cache_without_fingerprint", .what = "the cache of replies does not compare the request"},
    PlantedBug{.name = "record_in_another_transaction",
               .what = "the record is written after the effect, in a transaction of its own"},
    PlantedBug{.name = "record_key_ignored", .what = "a second record of an identity is dropped instead of refused"},
    PlantedBug{.name = "claim_without_guard",
               .what = "nobody looks for a record first, and a second one replaces the first"},
    PlantedBug{.name = "events_of_first_attempt_only", .what = "a rerun of a handler forgets its events"},
    PlantedBug{.name = "refusal_after_doubt_not_stored",
               .what = "a refusal is told while an earlier attempt may still commit"},
    PlantedBug{.name = "doubt_forgotten", .what = "a lost COMMIT followed by a failure is told as a failure"},
    PlantedBug{.name = "unknown_commit_is_success", .what = "no answer to COMMIT is taken for success"},
    PlantedBug{.name = "retry_after_unknown_commit",
               .what = "no answer to COMMIT is taken for a conflict, and the transaction runs again"},
    PlantedBug{.name = "statement_retried_alone",
               .what = "a statement that lost a race is run again by itself, without what came before it"},
    PlantedBug{.name = "accepted_before_durable",
               .what = "an asynchronous command is acknowledged before its COMMIT",
               .slow = true},
    PlantedBug{.name = "stale_guarded_write",
               .what = "a guarded write that changed no row does not stop the COMMIT behind it"},
    PlantedBug{.name = "missing_fence", .what = "whoever lost its lease can still write"},
    PlantedBug{.name = "lease_never_renewed", .what = "a lease is not extended while a call is under way"},
    PlantedBug{.name = "lease_taken_early", .what = "the sweeper takes commands whose lease has not ended"},
    PlantedBug{.name = "step_not_remembered", .what = "a step of a leased command is taken again by each run"},
    PlantedBug{.name = "repeat_without_key",
               .what = "a call that may have been made is made again without an idempotency key"},
    PlantedBug{.name = "not_found_is_licence",
               .what = "a call that the other side does not know of yet is made again",
               .slow = true},
    PlantedBug{.name = "refusal_of_a_repeat_believed",
               .what = "a refused repeat is taken for proof that the first attempt was not done",
               .slow = true},
    PlantedBug{.name = "settled_before_publish", .what = "pending rows are deleted before the broker has the events"},
    PlantedBug{.name = "unknown_is_acknowledged",
               .what = "a publish without an answer is taken for an acknowledged one"},
    PlantedBug{.name = "cursor_by_id", .what = "everything up to the last acknowledged id counts as published"},
    PlantedBug{
        .name = "order_by_id", .what = "events leave in the order of their ids, which clocks make", .slow = true},
    PlantedBug{.name = "waiting_row_hides_nothing",
               .what = "later events of an aggregate pass one that waits for its next attempt"},
    PlantedBug{.name = "parked_event_blocks_nothing",
               .what = "later events of an aggregate pass one that is set aside"},
    PlantedBug{.name = "park_without_epoch",
               .what = "a relay that lost its partition can still set events aside",
               .slow = true},
    PlantedBug{.name = "parked_event_lost", .what = "an event that is set aside is written down nowhere"},
    PlantedBug{.name = "redrive_one_of_many", .what = "of the events that are set aside only the first is sent again"},
    PlantedBug{.name = "prune_needed_rows", .what = "retention removes events that have not left", .slow = true},
    PlantedBug{
        .name = "forget_keys_early", .what = "retention forgets keys that are still to be remembered", .slow = true},
    PlantedBug{.name = "expire_replies_early", .what = "retention drops replies that are still to be kept"},
    PlantedBug{.name = "forget_messages_early", .what = "the inbox forgets messages that may come again"},
    PlantedBug{.name = "acknowledge_before_commit", .what = "a message is acknowledged before its effect is durable"},
    PlantedBug{.name = "offset_before_database",
               .what = "the position in the topic moves when a message is handed out"},
    PlantedBug{.name = "effect_without_inbox_row", .what = "a consumer's effect is not tied to its inbox row"},
    PlantedBug{.name = "inbox_key_ignored", .what = "a second inbox row of a message is dropped instead of refused"},
    PlantedBug{.name = "inbox_without_consumer", .what = "the inbox does not tell consumers apart"},
    PlantedBug{.name = "attempts_counted_in_inbox_row",
               .what = "a message that was begun once looks as if it were processed"},
    PlantedBug{
        .name = "message_parked_nowhere", .what = "a message that is set aside is written down nowhere", .slow = true},
    // What a single writer cannot express, or a simulation does not see, is caught by tests of its own.
    PlantedBug{.name = "append_without_lock",
               .what = "positions are drawn without the locks of their aggregates",
               .program = "protocol_pgtest",
               .test = "EventOrder.WithinAnAggregateIsTheOrderOfCommits"},
    PlantedBug{.name = "lock_and_lookup_in_one_statement",
               .what = "the claim looks with the snapshot from before its lock",
               .program = "protocol_pgtest",
               .test = "Claiming.SeesARecordThatWasCommittedAfterItsStatementBegan"},
    PlantedBug{.name = "lookup_under_serializable",
               .what = "the claim's lookup takes predicate locks under SERIALIZABLE",
               .program = "protocol_pgtest",
               .test = "Claiming.StrangersUnderSerializableDoNotFailOneAnother"},
    PlantedBug{.name = "resolved_without_lock",
               .what = "a lost COMMIT is resolved while its transaction may still end",
               .program = "protocol_lost_answer_pgtest",
               .test = "LostAnswer.IsNotResolvedBeforeTheOldTransactionHasEnded"},
    PlantedBug{.name = "replay_without_barrier",
               .what = "a record is replayed that the standby does not have",
               .program = "protocol_replication_pgtest",
               .test = "Replicated.ARecordThatIsOnlyHereIsNotReplayedBeforeTheStandbyHasItAndReplaysShareTheWait"},
    PlantedBug{.name = "foreign_keys_left_to_the_group",
               .what = "one member's open foreign key fails everyone's COMMIT",
               .program = "sqlite_test",
               .test = "GroupCommit.RollsADeferredForeignKeyBackAlone"},
    PlantedBug{.name = "answered_before_group_commit",
               .what = "a member of a group is answered before the group's COMMIT",
               .program = "sqlite_test",
               .test = "FailingDisk.AnswersUnknownToAllWhenTheFsyncOfTheirCommitFailsAndThenRefusesEverything"},
    PlantedBug{.name = "asked_too_early",
               .what = "a call is asked about, or repeated, while it may be under way",
               .program = "call_test",
               .test = "NextStep.WaitsUntilACallIsOverAndAGraceLonger"},
    PlantedBug{.name = "budget_rounds_up",
               .what = "the retry budget pays for more retries than it may",
               .program = "retry_test",
               .test = "Budget.FirstTriesPayForAShareOfRetriesRoundedDown"},
    PlantedBug{.name = "half_open_permit_leaked",
               .what = "the probes of a breaker do not come back",
               .program = "retry_test",
               .test = "Breaker.AProbeThatIsDestroyedWithoutAReportComesBack"},
};

struct PlantedStatement {
    std::string_view bug;
    std::string_view statement;
    std::string_view sql;
};

/// Bugs that are made of SQL alone. Each uses all parameters of the right one.
constexpr std::array planted_statements{
    PlantedStatement{"record_key_ignored", "record_finish", R"(
INSERT OR IGNORE INTO semel_command_record
    (identity, fingerprint, state, tenant, caller, operation, key, status, headers, body, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, semel_now(), semel_now() + $11 * 1000))"},
    PlantedStatement{"claim_without_guard", "claim_guard", "SELECT $1, $2, $3"},
    PlantedStatement{"claim_without_guard", "record_finish", R"(
INSERT OR REPLACE INTO semel_command_record
    (identity, fingerprint, state, tenant, caller, operation, key, status, headers, body, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, semel_now(), semel_now() + $11 * 1000))"},
    PlantedStatement{"replay_without_fingerprint", "claim_guard", R"(
SELECT semel_raise(CASE
    WHEN $3 IS NULL THEN 'SM003'
    WHEN state = 'expired' OR expires_at <= semel_now() THEN 'SM004'
    WHEN state IN ('succeeded', 'failed') THEN 'SM002'
    WHEN state = 'needs_reconciliation' THEN 'SM005'
    ELSE 'SM001'
END), $2 FROM semel_command_record WHERE identity = $1)"},
    PlantedStatement{"missing_fence", "lease_fence", "SELECT $1, $2, $3"},
    PlantedStatement{"missing_fence", "lease_finish", R"(
UPDATE semel_command_record SET state = $4, status = $5, headers = $6, body = $7, expires_at = semel_now() + $8 * 1000,
    lease_until = NULL, next_attempt_at = NULL, last_error = $9
WHERE identity = $1 AND $2 IS NOT NULL AND $3 IS NOT NULL)"},
    PlantedStatement{"missing_fence", "lease_renew", R"(
UPDATE semel_command_record SET lease_until = max(coalesce(lease_until, 0), semel_now() + $4 * 1000)
WHERE identity = $1 AND $2 IS NOT NULL AND $3 IS NOT NULL)"},
    PlantedStatement{"lease_never_renewed", "lease_renew", R"(
UPDATE semel_command_record SET lease_until = lease_until
WHERE identity = $1 AND epoch = $2 AND owner = $3 AND state = 'processing' AND $4 IS NOT NULL)"},
    PlantedStatement{"lease_taken_early", "lease_take_expired", R"(
UPDATE semel_command_record SET epoch = epoch + 1, owner = $1, lease_until = semel_now() + $2 * 1000
WHERE identity = (SELECT identity FROM semel_command_record
                  WHERE state = 'processing'
                    AND instr(char(10) || $3 || char(10), char(10) || operation || char(10)) > 0
                  ORDER BY lease_until LIMIT 1)
RETURNING identity, tenant, caller, operation, key, fingerprint, payload, epoch, attempts,
          coalesce(correlation_id, ''))"},
    PlantedStatement{"step_not_remembered", "step_store", "SELECT $1, $2, $3"},
    PlantedStatement{"cursor_by_id", "pending_delete", R"(
DELETE FROM semel_outbox_pending WHERE pending_id <= (SELECT max(value) FROM json_each('[' || $1 || ']'))
  AND $2 IS NOT NULL AND $3 IS NOT NULL)"},
    PlantedStatement{"order_by_id", "pending_read", R"(
SELECT p.pending_id, p.position, p.aggregate, p.partition, p.attempts, p.event_id, e.tenant, e.aggregate_type,
       e.aggregate_id, e.aggregate_version, e.type, e.payload, e.headers, e.created_at,
       EXISTS (SELECT 1 FROM semel_outbox_parked k
               WHERE k.aggregate = p.aggregate AND k.position < p.position AND k.blocks), 0
FROM semel_outbox_pending p CROSS JOIN semel_outbox_event e ON e.position = p.position
WHERE p.partition IN (SELECT value FROM json_each('[' || $1 || ']'))
  AND NOT EXISTS (SELECT 1 FROM semel_outbox_pending w
                  WHERE w.aggregate = p.aggregate AND w.position <= p.position AND w.next_attempt_at > semel_now())
ORDER BY p.event_id LIMIT $2 * json_array_length('[' || $1 || ']'))"},
    PlantedStatement{"waiting_row_hides_nothing", "pending_read", R"(
SELECT p.pending_id, p.position, p.aggregate, p.partition, p.attempts, p.event_id, e.tenant, e.aggregate_type,
       e.aggregate_id, e.aggregate_version, e.type, e.payload, e.headers, e.created_at,
       EXISTS (SELECT 1 FROM semel_outbox_parked k
               WHERE k.aggregate = p.aggregate AND k.position < p.position AND k.blocks), 0
FROM semel_outbox_pending p CROSS JOIN semel_outbox_event e ON e.position = p.position
WHERE p.partition IN (SELECT value FROM json_each('[' || $1 || ']'))
  AND coalesce(p.next_attempt_at, 0) <= semel_now()
ORDER BY p.position LIMIT $2 * json_array_length('[' || $1 || ']'))"},
    PlantedStatement{"parked_event_blocks_nothing", "pending_read", R"(
SELECT p.pending_id, p.position, p.aggregate, p.partition, p.attempts, p.event_id, e.tenant, e.aggregate_type,
       e.aggregate_id, e.aggregate_version, e.type, e.payload, e.headers, e.created_at, 0, 0
FROM semel_outbox_pending p CROSS JOIN semel_outbox_event e ON e.position = p.position
WHERE p.partition IN (SELECT value FROM json_each('[' || $1 || ']'))
  AND NOT EXISTS (SELECT 1 FROM semel_outbox_pending w
                  WHERE w.aggregate = p.aggregate AND w.position <= p.position AND w.next_attempt_at > semel_now())
ORDER BY p.position LIMIT $2 * json_array_length('[' || $1 || ']'))"},
    PlantedStatement{"park_without_epoch", "parked_insert", R"(
INSERT INTO semel_outbox_parked (event_id, position, aggregate, partition, tenant, aggregate_type, aggregate_id,
                                 attempts, reason, blocks, parked_at)
SELECT p.event_id, p.position, p.aggregate, p.partition, e.tenant, e.aggregate_type, e.aggregate_id, $2, $3, $4,
       semel_now()
FROM semel_outbox_pending p JOIN semel_outbox_event e ON e.position = p.position
WHERE p.pending_id = $1 AND $5 IS NOT NULL AND $6 IS NOT NULL AND $7 IS NOT NULL AND p.position = $9
  AND (NOT $8 OR EXISTS (SELECT 1 FROM semel_outbox_parked k
                         WHERE k.aggregate = p.aggregate AND k.position < p.position AND k.blocks))
ON CONFLICT (event_id) DO UPDATE SET attempts = excluded.attempts, reason = excluded.reason)"},
    PlantedStatement{"park_without_epoch", "parked_remove", R"(
DELETE FROM semel_outbox_pending WHERE pending_id = $1 AND $2 IS NOT NULL AND $3 IS NOT NULL AND $4 IS NOT NULL
    AND position = $5
    AND EXISTS (SELECT 1 FROM semel_outbox_parked k WHERE k.event_id = semel_outbox_pending.event_id))"},
    PlantedStatement{"parked_event_lost", "parked_insert", "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9"},
    PlantedStatement{"parked_event_lost", "parked_remove", R"(
DELETE FROM semel_outbox_pending WHERE pending_id = $1 AND position = $5 AND partition IN
    (SELECT partition FROM semel_outbox_partition WHERE partition = $2 AND owner = $3 AND epoch = $4))"},
    PlantedStatement{"redrive_one_of_many", "parked_redrive", R"(
INSERT INTO semel_outbox_pending (position, aggregate, event_id, partition)
SELECT position, aggregate, event_id, partition FROM semel_outbox_parked WHERE aggregate = $1
ORDER BY position LIMIT 1)"},
    PlantedStatement{"prune_needed_rows", "outbox_prune_find", R"(
SELECT e.event_id FROM semel_outbox_event e
WHERE e.event_id > $2 AND e.created_at < semel_now() - $1 ORDER BY e.event_id LIMIT $3)"},
    PlantedStatement{"prune_needed_rows", "outbox_prune_delete", R"(
DELETE FROM semel_outbox_event
WHERE event_id IN (SELECT value FROM json_each('["' || replace($1, ',', '","') || '"]')))"},
    PlantedStatement{"forget_keys_early", "record_forget", R"(
DELETE FROM semel_command_record
WHERE identity IN (SELECT identity FROM semel_command_record
                   WHERE expires_at <= semel_now() AND $2 IS NOT NULL AND state = 'expired'
                   ORDER BY expires_at LIMIT $1))"},
    PlantedStatement{"expire_replies_early", "record_expire", R"(
UPDATE semel_command_record SET state = 'expired', status = NULL, headers = NULL, body = NULL, payload = NULL
WHERE identity IN (SELECT identity FROM semel_command_record WHERE state IN ('succeeded', 'failed')
                   ORDER BY expires_at LIMIT $1))"},
    PlantedStatement{"forget_messages_early", "inbox_forget", R"(
DELETE FROM semel_inbox_message
WHERE (consumer, message_id) IN (SELECT consumer, message_id FROM semel_inbox_message
                                 WHERE $2 IS NOT NULL ORDER BY processed_at LIMIT $1))"},
    PlantedStatement{"inbox_key_ignored", "inbox_insert", R"(
INSERT OR IGNORE INTO semel_inbox_message (consumer, message_id, tenant, topic, source_partition, source_offset, type,
                                           version, payload_hash, business_key, processed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, semel_now()))"},
    PlantedStatement{"inbox_without_consumer", "inbox_insert", R"(
INSERT INTO semel_inbox_message (consumer, message_id, tenant, topic, source_partition, source_offset, type,
                                 version, payload_hash, business_key, processed_at)
VALUES (substr($1, 1, 0), $2, $3, $4, $5, $6, $7, $8, $9, $10, semel_now()))"},
    PlantedStatement{"attempts_counted_in_inbox_row", "inbox_look", R"(
SELECT (SELECT count(*) FROM semel_inbox_message WHERE consumer = $1 AND message_id = $2)
           + (SELECT count(*) FROM semel_inbox_attempt WHERE consumer = $1 AND message_id = $2),
       (SELECT count(*) FROM semel_inbox_parked WHERE consumer = $1 AND message_id = $2))"},
    PlantedStatement{"message_parked_nowhere", "inbox_park",
                     "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13"},
};

}  // namespace

std::span<const PlantedBug> planted_bugs() noexcept { return planted; }

const PlantedBug* find_planted(std::string_view name) noexcept {
    const auto found = std::ranges::find(planted, name, &PlantedBug::name);
    return found == planted.end() ? nullptr : &*found;
}

Catalogue planted_catalogue() {
    static std::vector<Catalogue::Entry> entries;
    const Catalogue right = sqlite::catalogue();
    entries.assign(right.entries().begin(), right.entries().end());
    for (const PlantedStatement& one : planted_statements)
        for (Catalogue::Entry& entry : entries)
            if (entry.name == one.statement && mutant::on(one.bug)) entry.sql = one.sql;
    return Catalogue(entries);
}

}  // namespace semel::simulation
