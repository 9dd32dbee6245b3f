DELETE FROM semel.inbox_attempt
WHERE (consumer, message_id) IN (SELECT consumer, message_id FROM semel.inbox_attempt
                                 WHERE started_at <= now() - $2 * interval '1 millisecond'
                                 ORDER BY started_at LIMIT $1 FOR UPDATE SKIP LOCKED)
