-- The first $1 events that have still to leave.
SELECT e.event_id, e.position, e.partition, e.tenant, e.aggregate_type, e.aggregate_id, e.aggregate_version, e.type,
       e.payload, e.headers, (extract(epoch FROM e.created_at) * 1000000)::bigint, true,
       coalesce(w.attempts, 0), (extract(epoch FROM w.next_attempt_at - clock_timestamp()) * 1000000)::bigint,
       w.last_error, k.reason
FROM (SELECT * FROM semel.outbox_pending ORDER BY position LIMIT $1) p
JOIN semel.outbox_event e ON e.event_id = p.event_id
LEFT JOIN semel.outbox_waiting w ON w.pending_id = p.pending_id
LEFT JOIN semel.outbox_parked k ON k.event_id = p.event_id
ORDER BY p.position
