-- The next $8 events behind $7, by id, that match as in outbox_replay_find, whatever became of them.
SELECT e.event_id, e.position, e.partition, e.tenant, e.aggregate_type, e.aggregate_id, e.aggregate_version, e.type,
       e.payload, e.headers, e.created_at
FROM semel_outbox_event e
WHERE e.event_id > $7
  AND ($1 IS NULL OR e.type = $1) AND ($2 IS NULL OR e.created_at >= $2) AND ($3 IS NULL OR e.created_at < $3)
  AND ($4 IS NULL OR e.aggregate_type = $4) AND ($5 IS NULL OR e.aggregate_id = $5)
  AND ($6 IS NULL OR e.tenant = $6)
ORDER BY e.event_id LIMIT $8
