-- The first $1 events that have still to leave.
SELECT e.event_id, e.position, e.partition, e.tenant, e.aggregate_type, e.aggregate_id, e.aggregate_version, e.type,
       e.payload, e.headers, e.created_at, 1, p.attempts, p.next_attempt_at - semel_now(), p.last_error, k.reason
FROM semel_outbox_pending p
JOIN semel_outbox_event e ON e.position = p.position
LEFT JOIN semel_outbox_parked k ON k.event_id = p.event_id
ORDER BY p.position LIMIT $1
