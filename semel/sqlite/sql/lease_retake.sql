-- A repeat of the request goes on with a command whose next attempt is due.
UPDATE semel_command_record SET state = 'processing', epoch = epoch + 1, owner = $3, attempts = attempts + 1,
    lease_until = semel_now() + $4 * 1000, next_attempt_at = NULL
WHERE identity = $1 AND epoch = $2 AND state = 'failed_transient' AND next_attempt_at <= semel_now()
