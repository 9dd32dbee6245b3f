DELETE FROM semel_inbox_attempt
WHERE (consumer, message_id) IN (SELECT consumer, message_id FROM semel_inbox_attempt
                                 WHERE started_at <= semel_now() - $2 * 1000
                                 ORDER BY started_at LIMIT $1)
