UPDATE semel_command_record SET state = $2, status = $3, headers = $4, body = $5,
    expires_at = semel_now() + $6 * 1000, last_error = $7
WHERE identity = $1 AND state = 'needs_reconciliation'
