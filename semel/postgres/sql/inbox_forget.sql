DELETE FROM semel.inbox_message
WHERE (consumer, message_id) IN (SELECT consumer, message_id FROM semel.inbox_message
                                 WHERE processed_at <= now() - $2 * interval '1 millisecond'
                                 ORDER BY processed_at LIMIT $1 FOR UPDATE SKIP LOCKED)
