UPDATE semel.command_record SET state = $2, status = $3, headers = $4, body = $5,
    expires_at = clock_timestamp() + $6 * interval '1 millisecond', last_error = $7
WHERE identity = $1 AND state = 'needs_reconciliation'
