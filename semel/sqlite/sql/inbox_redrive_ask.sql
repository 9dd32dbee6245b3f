-- Only of what is parked. Asked for again, it is a new request: whoever works on the old one cannot end it.
INSERT INTO semel_inbox_redrive (consumer, message_id, asked_by, asked_at, not_before)
SELECT consumer, message_id, $3, semel_now(), semel_now() FROM semel_inbox_parked WHERE consumer = $1 AND message_id = $2
ON CONFLICT (consumer, message_id) DO UPDATE SET asked_by = excluded.asked_by, asked_at = excluded.asked_at,
    not_before = excluded.not_before, taken_as = NULL, begun = 0, put_back = 0
RETURNING message_id
