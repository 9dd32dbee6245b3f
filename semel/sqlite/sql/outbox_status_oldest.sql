-- Positions follow the order of commits, so the first that is pending is the oldest.
SELECT max(0, semel_now() - e.created_at)
FROM semel_outbox_pending p JOIN semel_outbox_event e ON e.position = p.position ORDER BY p.position LIMIT 1
