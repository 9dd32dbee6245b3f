-- The next $3 events behind $2 that are older than $1 microseconds and have left.
SELECT e.event_id FROM semel_outbox_event e
WHERE e.event_id > $2 AND e.created_at < semel_now() - $1
  AND NOT EXISTS (SELECT 1 FROM semel_outbox_pending p WHERE p.position = e.position)
  AND NOT EXISTS (SELECT 1 FROM semel_outbox_parked k WHERE k.event_id = e.event_id)
ORDER BY e.event_id LIMIT $3
