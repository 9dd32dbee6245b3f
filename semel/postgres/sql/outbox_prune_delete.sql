-- The events in $1 (ids with commas), if they still have left: someone may have sent one of them once more between the
-- look and the lock.
DELETE FROM semel.outbox_event e WHERE e.event_id = ANY (string_to_array($1, ',')::uuid[])
  AND NOT EXISTS (SELECT 1 FROM semel.outbox_pending p WHERE p.partition = e.partition AND p.position = e.position)
  AND NOT EXISTS (SELECT 1 FROM semel.outbox_parked k WHERE k.event_id = e.event_id)
  AND (NOT e.streamed OR e.transaction_id < (SELECT low_water FROM semel.outbox_feed))
