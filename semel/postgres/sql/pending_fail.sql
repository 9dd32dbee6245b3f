-- Not taken; to be tried again later. Changes nothing if the partition has changed hands, or the event has left.
WITH fence AS MATERIALIZED (
    SELECT partition FROM semel.outbox_partition WHERE partition = $5 AND owner = $6 AND epoch = $7 FOR SHARE),
failed AS MATERIALIZED (
    SELECT p.pending_id, p.position, p.aggregate, p.partition FROM fence JOIN semel.outbox_pending p
        ON p.partition = $5 AND p.position = $8 AND p.pending_id = $1
    FOR UPDATE OF p)
INSERT INTO semel.outbox_waiting (pending_id, position, aggregate, partition, attempts, next_attempt_at, last_error)
SELECT pending_id, position, aggregate, partition, $2, clock_timestamp() + $3 * interval '1 millisecond', $4 FROM failed
ON CONFLICT (pending_id) DO UPDATE SET attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at,
    last_error = excluded.last_error
