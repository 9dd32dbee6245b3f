UPDATE semel.call SET status = 'unknown', last_error = $3, asks = asks + $4, updated_at = clock_timestamp()
WHERE call_id = $1 AND attempt = $2 AND status IN ('intended', 'unknown')
