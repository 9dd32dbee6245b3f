-- Events that left and match: type, created from $2 and before $3 (microseconds since 1970), aggregate, tenant; NULL
-- asks for any. What is still pending or parked has not left.
SELECT e.event_id, e.created_at
FROM semel_outbox_event e
WHERE ($1 IS NULL OR e.type = $1) AND ($2 IS NULL OR e.created_at >= $2) AND ($3 IS NULL OR e.created_at < $3)
  AND ($4 IS NULL OR e.aggregate_type = $4) AND ($5 IS NULL OR e.aggregate_id = $5)
  AND ($6 IS NULL OR e.tenant = $6)
  AND NOT EXISTS (SELECT 1 FROM semel_outbox_pending p WHERE p.position = e.position)
  AND NOT EXISTS (SELECT 1 FROM semel_outbox_parked k WHERE k.event_id = e.event_id)
ORDER BY e.position LIMIT $7
