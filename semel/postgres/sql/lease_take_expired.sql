-- The command whose lease ran out first, of the operations in $3, one name per line.
UPDATE semel.command_record SET epoch = epoch + 1, owner = $1,
    lease_until = clock_timestamp() + $2 * interval '1 millisecond'
WHERE identity = (SELECT identity FROM semel.command_record
                  WHERE state = 'processing' AND lease_until <= now()
                    AND operation = ANY (string_to_array($3, E'\n'))
                  ORDER BY lease_until LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING identity, tenant, caller, operation, key, fingerprint, payload, epoch, attempts, coalesce(correlation_id, '')
