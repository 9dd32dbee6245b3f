SELECT p.partition, p.epoch, CASE WHEN p.expires_at > clock_timestamp() THEN p.owner END,
       greatest(0, coalesce((extract(epoch FROM p.expires_at - clock_timestamp()) * 1000000)::bigint, 0)),
       coalesce(c.pending, 0), coalesce(c.waiting, 0)
FROM semel.outbox_partition p
LEFT JOIN (SELECT partition, count(*) AS pending, count(*) FILTER (WHERE next_attempt_at > now()) AS waiting
           FROM semel.outbox_pending GROUP BY partition) c ON c.partition = p.partition
ORDER BY p.partition
