-- A repeat of the request goes on with a command whose next attempt is due.
UPDATE semel.command_record SET state = 'processing', epoch = epoch + 1, owner = $3, attempts = attempts + 1,
    lease_until = clock_timestamp() + $4 * interval '1 millisecond', next_attempt_at = NULL
WHERE identity = $1 AND epoch = $2 AND state = 'failed_transient' AND next_attempt_at <= clock_timestamp()
