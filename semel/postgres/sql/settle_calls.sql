-- $3 and $4: the response of a confirmed one; $5: whether a failed one is made again.
UPDATE semel.call SET status = $2, response_status = $3, response = $4,
    next_retry_at = CASE WHEN $5 = 1 THEN clock_timestamp() END, last_error = $6, asks = 0,
    updated_at = clock_timestamp()
WHERE identity = $1 AND status IN ('intended', 'unknown')
