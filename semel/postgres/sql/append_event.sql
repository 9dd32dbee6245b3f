INSERT INTO semel.outbox_event
    (event_id, position, tenant, aggregate_type, aggregate_id, aggregate_version, type, payload, headers, partition)
VALUES ($1, nextval('semel.outbox_position'), $2, $3, $4, $5, $6, $7, $8, $9)
