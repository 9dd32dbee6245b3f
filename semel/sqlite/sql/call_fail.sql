-- Without a time for the next attempt it is for good.
UPDATE semel_call SET status = 'failed', last_error = $3, error_code = $4, next_retry_at = semel_now() + $5 * 1000,
    updated_at = semel_now()
WHERE call_id = $1 AND attempt = $2 AND status IN ('intended', 'unknown')
