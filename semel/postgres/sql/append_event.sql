-- The event, under the lock $11 of its aggregate, and the narrow row that says that it has still to leave, unless it is
-- streamed. Only CASE promises an order: no position is drawn, and nobody looks how events leave, before the lock is
-- there; taking it a second time costs nothing. The narrow row is called by the event's position, which no other has.
WITH event AS (
    INSERT INTO semel.outbox_event (event_id, position, tenant, aggregate_type, aggregate_id, aggregate_version, type,
                                    payload, headers, partition, aggregate, streamed)
    VALUES ($1, CASE WHEN pg_advisory_xact_lock($11) IS NOT NULL THEN nextval('semel.outbox_position') END, $2, $3, $4,
            $5, $6, $7, $8, $9, $10, CASE WHEN pg_advisory_xact_lock($11) IS NOT NULL THEN semel.outbox_streamed() END)
    RETURNING position, streamed)
INSERT INTO semel.outbox_pending (pending_id, position, aggregate, event_id, partition)
SELECT position, position, $10, $1, $9 FROM event WHERE NOT streamed
