INSERT INTO semel_outbox_event
    (event_id, tenant, aggregate_type, aggregate_id, aggregate_version, type, payload, headers, partition, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, semel_now())
