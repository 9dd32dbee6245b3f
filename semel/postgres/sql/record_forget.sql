-- What a person must still settle is kept, whatever its age.
DELETE FROM semel.command_record
WHERE identity IN (SELECT identity FROM semel.command_record
                   WHERE expires_at <= now() - $2 * interval '1 millisecond' AND state = 'expired'
                     AND NOT EXISTS (SELECT 1 FROM semel.call c WHERE c.identity = semel.command_record.identity
                                     AND c.status IN ('intended', 'unknown'))
                   ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
