-- Epoch and owner stay, so that whoever lost the answer to COMMIT can tell that it was its own.
UPDATE semel.command_record SET state = $4, status = $5, headers = $6, body = $7,
    expires_at = clock_timestamp() + $8 * interval '1 millisecond',
    lease_until = NULL, next_attempt_at = NULL, last_error = $9
WHERE identity = $1 AND epoch = $2 AND owner = $3 AND state = 'processing'
