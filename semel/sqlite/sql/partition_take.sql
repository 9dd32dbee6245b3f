-- At most $3 partitions that nobody holds.
UPDATE semel_outbox_partition SET owner = $1, epoch = epoch + 1, expires_at = semel_now() + $2 * 1000
WHERE partition IN (SELECT partition FROM semel_outbox_partition
                    WHERE owner IS NULL OR expires_at <= semel_now() ORDER BY partition LIMIT $3)
RETURNING partition, epoch
