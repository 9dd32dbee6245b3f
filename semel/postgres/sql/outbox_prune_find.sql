-- The next $3 events behind $2 that are older than $1 microseconds and have left. Locked, so that nobody sends one of
-- them once more while it is being deleted.
SELECT e.event_id FROM semel.outbox_event e
WHERE e.event_id > $2 AND e.created_at < now() - $1 * interval '1 microsecond'
  AND NOT EXISTS (SELECT 1 FROM semel.outbox_pending p WHERE p.partition = e.partition AND p.position = e.position)
  AND NOT EXISTS (SELECT 1 FROM semel.outbox_parked k WHERE k.event_id = e.event_id)
  AND (NOT e.streamed OR e.transaction_id < (SELECT low_water FROM semel.outbox_feed))
ORDER BY e.event_id LIMIT $3 FOR UPDATE OF e SKIP LOCKED
