SELECT p.partition, p.epoch, CASE WHEN p.expires_at > clock_timestamp() THEN p.owner END,
       greatest(0, coalesce((extract(epoch FROM p.expires_at - clock_timestamp()) * 1000000)::bigint, 0)),
       coalesce(c.pending, 0), coalesce(w.waiting, 0)
FROM semel.outbox_partition p
LEFT JOIN (SELECT partition, count(*) AS pending FROM semel.outbox_pending GROUP BY partition) c
    ON c.partition = p.partition
LEFT JOIN (SELECT partition, count(*) AS waiting FROM semel.outbox_waiting WHERE next_attempt_at > now()
           GROUP BY partition) w ON w.partition = p.partition
ORDER BY p.partition
