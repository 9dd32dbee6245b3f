-- The slot was lost: what may not have left becomes pending. Everything that was to be streamed, from the transaction $1
-- on, and is visible in the new slot's snapshot $2; what is not will come through the slot. Without $1 the numbers of
-- transactions are another server's, and everything that is still kept is sent.
INSERT INTO semel.outbox_pending (position, aggregate, event_id, partition)
SELECT e.position, e.aggregate, e.event_id, e.partition FROM semel.outbox_event e
WHERE e.streamed AND ($1::text IS NULL OR (e.transaction_id >= $1::text::xid8
                                           AND pg_visible_in_snapshot(e.transaction_id, $2::text::pg_snapshot)))
  AND NOT EXISTS (SELECT 1 FROM semel.outbox_pending p WHERE p.partition = e.partition AND p.position = e.position)
  AND NOT EXISTS (SELECT 1 FROM semel.outbox_parked k WHERE k.event_id = e.event_id)
ORDER BY e.position
