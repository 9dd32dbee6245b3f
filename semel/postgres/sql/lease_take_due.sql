-- The oldest command that is due, of the operations in $3, one name per line.
UPDATE semel.command_record SET state = 'processing', epoch = coalesce(epoch, 0) + 1, owner = $1,
    attempts = coalesce(attempts, 0) + 1, next_attempt_at = NULL,
    lease_until = clock_timestamp() + $2 * interval '1 millisecond'
WHERE identity = (SELECT identity FROM semel.command_record
                  WHERE state IN ('received', 'failed_transient') AND next_attempt_at <= now()
                    AND operation = ANY (string_to_array($3, E'\n'))
                  ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING identity, tenant, caller, operation, key, fingerprint, payload, epoch, attempts, coalesce(correlation_id, '')
