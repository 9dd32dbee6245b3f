-- What a person must still settle is kept, whatever its age.
UPDATE semel_command_record SET state = 'expired', status = NULL, headers = NULL, body = NULL, payload = NULL
WHERE identity IN (SELECT identity FROM semel_command_record
                   WHERE expires_at <= semel_now() AND state IN ('succeeded', 'failed')
                     AND NOT EXISTS (SELECT 1 FROM semel_call c WHERE c.identity = semel_command_record.identity
                                     AND c.status IN ('intended', 'unknown'))
                   ORDER BY expires_at LIMIT $1)
