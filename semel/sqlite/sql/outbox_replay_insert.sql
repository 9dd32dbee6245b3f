-- The events in $1 (ids with commas) once more, each with a row of its own, unless it is about to leave anyway.
INSERT INTO semel_outbox_pending (position, aggregate, event_id, partition)
SELECT e.position, e.aggregate, e.event_id, e.partition FROM semel_outbox_event e
WHERE e.event_id IN (SELECT value FROM json_each('["' || replace($1, ',', '","') || '"]'))
  AND NOT EXISTS (SELECT 1 FROM semel_outbox_pending p WHERE p.position = e.position)
  AND NOT EXISTS (SELECT 1 FROM semel_outbox_parked k WHERE k.event_id = e.event_id)
ORDER BY e.position
