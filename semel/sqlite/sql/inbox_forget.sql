DELETE FROM semel_inbox_message
WHERE (consumer, message_id) IN (SELECT consumer, message_id FROM semel_inbox_message
                                 WHERE processed_at <= semel_now() - $2 * 1000
                                 ORDER BY processed_at LIMIT $1)
