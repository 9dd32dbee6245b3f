-- What the relay still holds, for longer. A lease that ran out and that nobody took is as good as new.
UPDATE semel_outbox_partition SET expires_at = max(expires_at, semel_now() + $2 * 1000)
WHERE owner = $1 RETURNING partition, epoch
