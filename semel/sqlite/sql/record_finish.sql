INSERT INTO semel_command_record
    (identity, fingerprint, state, tenant, caller, operation, key, status, headers, body, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, semel_now(), semel_now() + $11 * 1000)
