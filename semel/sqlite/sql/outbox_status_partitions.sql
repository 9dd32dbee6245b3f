SELECT p.partition, p.epoch, CASE WHEN p.expires_at > semel_now() THEN p.owner END,
       max(0, coalesce(p.expires_at - semel_now(), 0)), coalesce(c.pending, 0), coalesce(c.waiting, 0)
FROM semel_outbox_partition p
LEFT JOIN (SELECT partition, count(*) AS pending, coalesce(sum(next_attempt_at > semel_now()), 0) AS waiting
           FROM semel_outbox_pending GROUP BY partition) c ON c.partition = p.partition
ORDER BY p.partition
