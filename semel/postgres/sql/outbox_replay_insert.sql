-- The events in $1 (ids with commas) once more, each with a row of its own, unless it is about to leave anyway. Those
-- that are being deleted are waited for, and left out.
INSERT INTO semel.outbox_pending (position, aggregate, event_id, partition)
SELECT e.position, e.aggregate, e.event_id, e.partition FROM (
    SELECT * FROM semel.outbox_event WHERE event_id = ANY (string_to_array($1, ',')::uuid[]) FOR SHARE) e
WHERE NOT EXISTS (SELECT 1 FROM semel.outbox_pending p WHERE p.partition = e.partition AND p.position = e.position)
  AND NOT EXISTS (SELECT 1 FROM semel.outbox_parked k WHERE k.event_id = e.event_id)
  AND (NOT e.streamed OR e.transaction_id < (SELECT low_water FROM semel.outbox_feed))
ORDER BY e.position
