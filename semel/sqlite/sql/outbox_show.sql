SELECT e.event_id, e.position, e.partition, e.tenant, e.aggregate_type, e.aggregate_id, e.aggregate_version, e.type,
       e.payload, e.headers, e.created_at, p.pending_id IS NOT NULL, coalesce(p.attempts, k.attempts, 0),
       p.next_attempt_at - semel_now(), p.last_error, k.reason
FROM semel_outbox_event e
LEFT JOIN semel_outbox_pending p ON p.position = e.position
LEFT JOIN semel_outbox_parked k ON k.event_id = e.event_id
WHERE e.event_id = $1 ORDER BY p.pending_id LIMIT 1
