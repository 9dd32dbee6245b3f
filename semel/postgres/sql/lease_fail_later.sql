UPDATE semel.command_record SET state = 'failed_transient',
    next_attempt_at = clock_timestamp() + $4 * interval '1 millisecond', lease_until = NULL, last_error = $5
WHERE identity = $1 AND epoch = $2 AND owner = $3 AND state = 'processing'
