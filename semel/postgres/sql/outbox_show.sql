-- One event and where it stands. One that may still be in the log counts as pending.
SELECT e.event_id, e.position, e.partition, e.tenant, e.aggregate_type, e.aggregate_id, e.aggregate_version, e.type,
       e.payload, e.headers, (extract(epoch FROM e.created_at) * 1000000)::bigint, p.pending_id IS NOT NULL
           OR (e.streamed AND k.event_id IS NULL
               AND NOT coalesce(e.transaction_id < (SELECT low_water FROM semel.outbox_feed), false)),
       coalesce(w.attempts, k.attempts, 0), (extract(epoch FROM w.next_attempt_at - clock_timestamp()) * 1000000)::bigint,
       w.last_error, k.reason
FROM semel.outbox_event e
LEFT JOIN LATERAL (SELECT * FROM semel.outbox_pending f WHERE f.partition = e.partition AND f.position = e.position
                   ORDER BY f.pending_id LIMIT 1) p ON true
LEFT JOIN semel.outbox_waiting w ON w.pending_id = p.pending_id
LEFT JOIN semel.outbox_parked k ON k.event_id = e.event_id
WHERE e.event_id = $1
