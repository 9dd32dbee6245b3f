-- Not taken; to be tried again later. Changes nothing if the partition has changed hands.
WITH fence AS MATERIALIZED (
    SELECT partition FROM semel.outbox_partition WHERE partition = $5 AND owner = $6 AND epoch = $7 FOR SHARE)
UPDATE semel.outbox_pending p SET attempts = $2,
    next_attempt_at = clock_timestamp() + $3 * interval '1 millisecond', last_error = $4
FROM fence WHERE p.partition = $5 AND p.position = $8 AND p.pending_id = $1
