UPDATE semel_call SET status = 'unknown', last_error = $3, asks = asks + $4, updated_at = semel_now()
WHERE call_id = $1 AND attempt = $2 AND status IN ('intended', 'unknown')
