-- The one that is due longest, as $2, for $3 microseconds.
UPDATE semel.inbox_redrive SET taken_as = $2, begun = begun + 1, not_before = now() + $3::bigint * interval '1 microsecond'
WHERE consumer = $1 AND message_id = (SELECT message_id FROM semel.inbox_redrive WHERE consumer = $1 AND not_before <= now()
                                      ORDER BY not_before, message_id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING message_id, begun, put_back
