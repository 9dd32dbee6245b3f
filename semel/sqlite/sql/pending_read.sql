-- The first events of the partitions in $1 (numbers with commas), $2 for each of them, in order. An event that waits
-- for its next attempt hides the later ones of its aggregate.
SELECT p.pending_id, p.position, p.aggregate, p.partition, p.attempts, p.event_id, e.tenant, e.aggregate_type,
       e.aggregate_id, e.aggregate_version, e.type, e.payload, e.headers,
       e.created_at AS created_at,
       EXISTS (SELECT 1 FROM semel_outbox_parked k
               WHERE k.aggregate = p.aggregate AND k.position < p.position AND k.blocks) AS behind_parked,
       0 AS replicated
FROM semel_outbox_pending p INDEXED BY semel_outbox_pending_position
CROSS JOIN semel_outbox_event e ON e.position = p.position
WHERE p.partition IN (SELECT value FROM json_each('[' || $1 || ']'))
  AND NOT EXISTS (SELECT 1 FROM semel_outbox_pending w
                  WHERE w.aggregate = p.aggregate AND w.position <= p.position AND w.next_attempt_at > semel_now())
ORDER BY p.position LIMIT $2 * json_array_length('[' || $1 || ']')
