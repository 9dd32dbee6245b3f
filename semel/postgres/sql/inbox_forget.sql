-- What is parked as well (it was sent once more, and processed then) stays known, or its redrive would be a second effect.
DELETE FROM semel.inbox_message
WHERE (consumer, message_id) IN (SELECT consumer, message_id FROM semel.inbox_message AS m
                                 WHERE processed_at <= now() - $2 * interval '1 millisecond'
                                   AND NOT EXISTS (SELECT 1 FROM semel.inbox_parked AS p
                                                   WHERE p.consumer = m.consumer AND p.message_id = m.message_id)
                                 ORDER BY processed_at LIMIT $1 FOR UPDATE OF m SKIP LOCKED)
