-- The one that is due longest, as $2, for $3 microseconds.
UPDATE semel_inbox_redrive SET taken_as = $2, begun = begun + 1, not_before = semel_now() + $3
WHERE consumer = $1 AND message_id = (SELECT message_id FROM semel_inbox_redrive WHERE consumer = $1 AND not_before <= semel_now()
                                      ORDER BY not_before, message_id LIMIT 1)
RETURNING message_id, begun, put_back
