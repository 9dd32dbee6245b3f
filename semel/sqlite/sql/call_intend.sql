INSERT INTO semel_call
    (call_id, identity, name, tenant, integration, operation, business_key, external_request_id, capability, request,
     status, attempt, epoch, owner, must_start_before, ends_by, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'intended', 1, $11, $12,
        semel_now() + $13 * 1000, semel_now() + $14 * 1000, semel_now(), semel_now())
