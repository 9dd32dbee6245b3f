UPDATE semel_command_record SET state = 'failed_transient', next_attempt_at = semel_now() + $4 * 1000,
    lease_until = NULL, last_error = $5
WHERE identity = $1 AND epoch = $2 AND owner = $3 AND state = 'processing'
