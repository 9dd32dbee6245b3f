INSERT INTO semel.call
    (call_id, identity, name, tenant, integration, operation, business_key, external_request_id, capability, request,
     status, attempt, epoch, owner, must_start_before, ends_by, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'intended', 1, $11, $12,
        clock_timestamp() + $13 * interval '1 millisecond', clock_timestamp() + $14 * interval '1 millisecond',
        clock_timestamp(), clock_timestamp())
