-- Without a time for the next attempt it is for good.
UPDATE semel.call SET status = 'failed', last_error = $3, error_code = $4,
    next_retry_at = clock_timestamp() + $5 * interval '1 millisecond',
    updated_at = clock_timestamp()
WHERE call_id = $1 AND attempt = $2 AND status IN ('intended', 'unknown')
