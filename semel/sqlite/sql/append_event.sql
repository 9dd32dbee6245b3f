-- A trigger writes the narrow row that says that it has still to leave. One writer at a time: the lock $11 is not needed.
INSERT INTO semel_outbox_event (event_id, tenant, aggregate_type, aggregate_id, aggregate_version, type, payload,
                                headers, partition, aggregate, created_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, semel_now() WHERE $11 IS NOT NULL
