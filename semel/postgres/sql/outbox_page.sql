-- The next $8 events behind $7, by id, that match as in outbox_replay_find, whatever became of them.
SELECT e.event_id, e.position, e.partition, e.tenant, e.aggregate_type, e.aggregate_id, e.aggregate_version, e.type,
       e.payload, e.headers, (extract(epoch FROM e.created_at) * 1000000)::bigint
FROM semel.outbox_event e
WHERE e.event_id > $7
  AND ($1::text IS NULL OR e.type = $1::text)
  AND ($2::bigint IS NULL OR e.created_at >= timestamptz 'epoch' + $2::bigint * interval '1 microsecond')
  AND ($3::bigint IS NULL OR e.created_at < timestamptz 'epoch' + $3::bigint * interval '1 microsecond')
  AND ($4::text IS NULL OR e.aggregate_type = $4::text) AND ($5::text IS NULL OR e.aggregate_id = $5::text)
  AND ($6::text IS NULL OR e.tenant = $6::text)
ORDER BY e.event_id LIMIT $8
