-- What a person must still settle is kept, whatever its age.
DELETE FROM semel_command_record
WHERE identity IN (SELECT identity FROM semel_command_record
                   WHERE expires_at <= semel_now() - $2 * 1000 AND state = 'expired'
                     AND NOT EXISTS (SELECT 1 FROM semel_call c WHERE c.identity = semel_command_record.identity
                                     AND c.status IN ('intended', 'unknown'))
                   ORDER BY expires_at LIMIT $1)
