UPDATE semel_command_record SET state = 'needs_reconciliation', lease_until = NULL, next_attempt_at = NULL,
    last_error = $4
WHERE identity = $1 AND epoch = $2 AND owner = $3 AND state = 'processing'
