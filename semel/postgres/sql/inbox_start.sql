-- One more attempt begins; $3 is how many are known of at least. The earlier error stays if there is no newer one.
INSERT INTO semel.inbox_attempt AS a (consumer, message_id, started, last_error) VALUES ($1, $2, $3, $4)
ON CONFLICT (consumer, message_id) DO UPDATE SET started = greatest(a.started + 1, excluded.started),
    last_error = CASE excluded.last_error WHEN '' THEN a.last_error ELSE excluded.last_error END, started_at = now()
RETURNING started, last_error
