-- Behind pending_delete with the same ids: what is known of them beside. In a statement of its own, which sees what another
-- relay wrote while pending_delete waited for it; whoever comes later finds no pending row. Hardly ever does an event
-- wait, and then nobody looks which.
DELETE FROM semel.outbox_waiting WHERE (SELECT true FROM semel.outbox_waiting LIMIT 1)
    AND pending_id = ANY (string_to_array($1, ',')::bigint[])
