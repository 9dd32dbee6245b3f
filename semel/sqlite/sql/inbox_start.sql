-- One more attempt begins; $3 is how many are known of at least. The earlier error stays if there is no newer one.
INSERT INTO semel_inbox_attempt (consumer, message_id, started, last_error, started_at)
VALUES ($1, $2, $3, $4, semel_now())
ON CONFLICT (consumer, message_id) DO UPDATE SET started = max(started + 1, excluded.started),
    last_error = CASE excluded.last_error WHEN '' THEN last_error ELSE excluded.last_error END,
    started_at = semel_now()
RETURNING started, last_error
