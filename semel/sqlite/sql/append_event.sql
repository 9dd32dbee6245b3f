-- A trigger writes the narrow row that says that it has still to leave.
INSERT INTO semel_outbox_event (event_id, tenant, aggregate_type, aggregate_id, aggregate_version, type, payload,
                                headers, partition, aggregate, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, semel_now())
