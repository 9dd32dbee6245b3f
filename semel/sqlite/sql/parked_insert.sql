-- Sets an event aside. Changes nothing if the partition has changed hands; nor, where $8 says that it only follows one
-- that is set aside, if that one was sent once more meanwhile.
INSERT INTO semel_outbox_parked (event_id, position, aggregate, partition, tenant, aggregate_type, aggregate_id,
                                 attempts, reason, blocks, parked_at)
SELECT p.event_id, p.position, p.aggregate, p.partition, e.tenant, e.aggregate_type, e.aggregate_id, $2, $3, $4,
       semel_now()
FROM semel_outbox_pending p JOIN semel_outbox_event e ON e.position = p.position
WHERE p.pending_id = $1 AND p.position = $9 AND p.partition IN
    (SELECT partition FROM semel_outbox_partition WHERE partition = $5 AND owner = $6 AND epoch = $7)
  AND (NOT $8 OR EXISTS (SELECT 1 FROM semel_outbox_parked k
                         WHERE k.aggregate = p.aggregate AND k.position < p.position AND k.blocks))
ON CONFLICT (event_id) DO UPDATE SET attempts = excluded.attempts, reason = excluded.reason,
    blocks = max(blocks, excluded.blocks), parked_at = excluded.parked_at
