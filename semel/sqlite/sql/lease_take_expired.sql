-- The command whose lease ran out first, of the operations in $3, one name per line.
UPDATE semel_command_record SET epoch = epoch + 1, owner = $1, lease_until = semel_now() + $2 * 1000
WHERE identity = (SELECT identity FROM semel_command_record
                  WHERE state = 'processing' AND lease_until <= semel_now()
                    AND instr(char(10) || $3 || char(10), char(10) || operation || char(10)) > 0
                  ORDER BY lease_until LIMIT 1)
RETURNING identity, tenant, caller, operation, key, fingerprint, payload, epoch, attempts, coalesce(correlation_id, '')
