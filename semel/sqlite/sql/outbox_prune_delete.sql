-- The events in $1 (ids with commas), if they still have left.
DELETE FROM semel_outbox_event
WHERE event_id IN (SELECT value FROM json_each('["' || replace($1, ',', '","') || '"]'))
  AND NOT EXISTS (SELECT 1 FROM semel_outbox_pending p WHERE p.position = semel_outbox_event.position)
  AND NOT EXISTS (SELECT 1 FROM semel_outbox_parked k WHERE k.event_id = semel_outbox_event.event_id)
