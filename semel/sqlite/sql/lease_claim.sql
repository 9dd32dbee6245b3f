-- Begins a leased command; the primary key decides who does.
INSERT INTO semel_command_record
    (identity, fingerprint, state, tenant, caller, operation, key, payload, epoch, owner, attempts, correlation_id,
     created_at, lease_until)
VALUES ($1, $2, 'processing', $3, $4, $5, $6, $7, 1, $8, 1, $9, semel_now(), semel_now() + $10 * 1000)
