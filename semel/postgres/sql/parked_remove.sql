-- The pending row of an event that was just set aside, under the same fence; if it was.
WITH gone AS (
    DELETE FROM semel.outbox_pending WHERE partition = $2 AND position = $5 AND pending_id = $1 AND partition IN
        (SELECT partition FROM semel.outbox_partition WHERE partition = $2 AND owner = $3 AND epoch = $4 FOR SHARE)
        AND (SELECT true FROM semel.outbox_parked k WHERE k.event_id = semel.outbox_pending.event_id)
    RETURNING pending_id)
DELETE FROM semel.outbox_waiting WHERE pending_id = (SELECT pending_id FROM gone)
