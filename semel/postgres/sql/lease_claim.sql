-- Begins a leased command; the primary key decides who does.
INSERT INTO semel.command_record
    (identity, fingerprint, state, tenant, caller, operation, key, payload, epoch, owner, attempts, correlation_id,
     created_at, lease_until)
VALUES ($1, $2, 'processing', $3, $4, $5, $6, $7, 1, $8, 1, $9, clock_timestamp(),
    clock_timestamp() + $10 * interval '1 millisecond')
