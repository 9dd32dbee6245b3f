-- Not taken; to be tried again later. Changes nothing if the partition has changed hands.
UPDATE semel_outbox_pending SET attempts = $2, next_attempt_at = semel_now() + $3 * 1000, last_error = $4
WHERE pending_id = $1 AND position = $8 AND partition IN
    (SELECT partition FROM semel_outbox_partition WHERE partition = $5 AND owner = $6 AND epoch = $7)
