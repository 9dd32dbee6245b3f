-- At most $3 partitions that nobody holds.
UPDATE semel.outbox_partition SET owner = $1, epoch = epoch + 1,
    expires_at = clock_timestamp() + $2 * interval '1 millisecond'
WHERE partition IN (SELECT partition FROM semel.outbox_partition
                    WHERE owner IS NULL OR expires_at <= clock_timestamp()
                    ORDER BY partition LIMIT $3 FOR UPDATE SKIP LOCKED)
RETURNING partition, epoch
