-- The first event of each partition is found by its index; the oldest of those is the oldest of all.
SELECT greatest(0, (extract(epoch FROM clock_timestamp() - min(e.created_at)) * 1000000)::bigint)
FROM semel.outbox_partition t
CROSS JOIN LATERAL (SELECT f.event_id FROM semel.outbox_pending f WHERE f.partition = t.partition
                    ORDER BY f.position LIMIT 1) p
JOIN semel.outbox_event e ON e.event_id = p.event_id
HAVING count(*) > 0
