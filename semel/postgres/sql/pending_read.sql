-- The first $2 events of each partition in $1 (numbers with commas), in order. An event that waits for its next
-- attempt hides the later ones of its aggregate. Written so that there is one way to do it, as in pending_delete.
SELECT p.pending_id, p.position, p.aggregate, p.partition,
       coalesce((SELECT w.attempts FROM semel.outbox_waiting w WHERE w.pending_id = p.pending_id), 0) AS attempts,
       p.event_id, e.tenant, e.aggregate_type, e.aggregate_id, e.aggregate_version, e.type, e.payload, e.headers,
       (extract(epoch FROM e.created_at) * 1000000)::bigint AS created_at,
       EXISTS (SELECT 1 FROM semel.outbox_parked k
               WHERE k.aggregate = p.aggregate AND k.position < p.position AND k.blocks) AS behind_parked,
       current_setting('synchronous_standby_names') <> '' AS replicated
FROM unnest(string_to_array($1, ',')::smallint[]) AS held (number)
CROSS JOIN LATERAL (
    SELECT f.* FROM semel.outbox_pending f
    WHERE f.partition = held.number
      AND (SELECT true FROM semel.outbox_waiting w
           WHERE w.aggregate = f.aggregate AND w.position <= f.position AND w.next_attempt_at > now() LIMIT 1) IS NULL
    ORDER BY f.position LIMIT $2) p
CROSS JOIN LATERAL (SELECT * FROM semel.outbox_event o WHERE o.event_id = p.event_id OFFSET 0) e
ORDER BY p.position
