INSERT INTO semel.command_record
    (identity, fingerprint, state, tenant, caller, operation, key, status, headers, body, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + $11 * interval '1 millisecond')
