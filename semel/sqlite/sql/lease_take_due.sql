-- The oldest command that is due, of the operations in $3, one name per line.
UPDATE semel_command_record SET state = 'processing', epoch = coalesce(epoch, 0) + 1, owner = $1,
    attempts = coalesce(attempts, 0) + 1, next_attempt_at = NULL,
    lease_until = semel_now() + $2 * 1000
WHERE identity = (SELECT identity FROM semel_command_record
                  WHERE state IN ('received', 'failed_transient') AND next_attempt_at <= semel_now()
                    AND instr(char(10) || $3 || char(10), char(10) || operation || char(10)) > 0
                  ORDER BY next_attempt_at LIMIT 1)
RETURNING identity, tenant, caller, operation, key, fingerprint, payload, epoch, attempts, coalesce(correlation_id, '')
