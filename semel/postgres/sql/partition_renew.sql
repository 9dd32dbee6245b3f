-- What the relay still holds, for longer. A lease that ran out and that nobody took is as good as new.
UPDATE semel.outbox_partition SET
    expires_at = greatest(expires_at, clock_timestamp() + $2 * interval '1 millisecond')
WHERE owner = $1 RETURNING partition, epoch
