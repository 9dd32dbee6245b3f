-- Sets an event aside. Changes nothing if the partition has changed hands; nor, where $8 says that it only follows one
-- that is set aside, if that one was sent once more meanwhile.
WITH fence AS MATERIALIZED (
    SELECT partition FROM semel.outbox_partition WHERE partition = $5 AND owner = $6 AND epoch = $7 FOR SHARE)
INSERT INTO semel.outbox_parked
    (event_id, position, aggregate, partition, tenant, aggregate_type, aggregate_id, attempts, reason, blocks)
SELECT p.event_id, p.position, p.aggregate, p.partition, e.tenant, e.aggregate_type, e.aggregate_id, $2, $3, $4
FROM semel.outbox_pending p JOIN fence ON fence.partition = p.partition
CROSS JOIN LATERAL (SELECT * FROM semel.outbox_event o WHERE o.event_id = p.event_id OFFSET 0) e
WHERE p.partition = $5 AND p.position = $9 AND p.pending_id = $1
  AND (NOT $8 OR EXISTS (SELECT 1 FROM semel.outbox_parked k
                         WHERE k.aggregate = p.aggregate AND k.position < p.position AND k.blocks))
ON CONFLICT (event_id) DO UPDATE SET attempts = excluded.attempts, reason = excluded.reason,
    blocks = outbox_parked.blocks OR excluded.blocks, parked_at = excluded.parked_at
