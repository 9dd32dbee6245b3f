-- All partitions, whoever held them: whoever streams sends pending events too.
UPDATE semel.outbox_partition SET epoch = CASE WHEN owner = $1 THEN epoch ELSE epoch + 1 END, owner = $1,
    expires_at = clock_timestamp() + $2 * interval '1 millisecond'
RETURNING partition, epoch
