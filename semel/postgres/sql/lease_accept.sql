-- Stores a command for a worker, due at once.
INSERT INTO semel.command_record
    (identity, fingerprint, state, tenant, caller, operation, key, payload, epoch, attempts, correlation_id,
     created_at, next_attempt_at)
VALUES ($1, $2, 'received', $3, $4, $5, $6, $7, 0, 0, $8, clock_timestamp(), clock_timestamp())
