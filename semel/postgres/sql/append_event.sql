-- The event, and the narrow row that says that it has still to leave, unless it is streamed.
WITH event AS (
    INSERT INTO semel.outbox_event (event_id, position, tenant, aggregate_type, aggregate_id, aggregate_version, type,
                                    payload, headers, partition, aggregate)
    VALUES ($1, nextval('semel.outbox_position'), $2, $3, $4, $5, $6, $7, $8, $9, $10)
    RETURNING position, aggregate, event_id, partition, streamed)
INSERT INTO semel.outbox_pending (position, aggregate, event_id, partition)
SELECT position, aggregate, event_id, partition FROM event WHERE NOT streamed
