-- Events that left and match: type, created from $2 and before $3 (microseconds since 1970), aggregate, tenant; NULL
-- asks for any. What is still pending, parked or in the log has not left.
SELECT e.event_id, (extract(epoch FROM e.created_at) * 1000000)::bigint
FROM semel.outbox_event e
WHERE ($1::text IS NULL OR e.type = $1::text)
  AND ($2::bigint IS NULL OR e.created_at >= timestamptz 'epoch' + $2::bigint * interval '1 microsecond')
  AND ($3::bigint IS NULL OR e.created_at < timestamptz 'epoch' + $3::bigint * interval '1 microsecond')
  AND ($4::text IS NULL OR e.aggregate_type = $4::text) AND ($5::text IS NULL OR e.aggregate_id = $5::text)
  AND ($6::text IS NULL OR e.tenant = $6::text)
  AND NOT EXISTS (SELECT 1 FROM semel.outbox_pending p WHERE p.partition = e.partition AND p.position = e.position)
  AND NOT EXISTS (SELECT 1 FROM semel.outbox_parked k WHERE k.event_id = e.event_id)
  AND (NOT e.streamed OR e.transaction_id < (SELECT low_water FROM semel.outbox_feed))
ORDER BY e.position LIMIT $7
