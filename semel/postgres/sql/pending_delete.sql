-- Acknowledged by the broker: ids, positions and partitions, each a list with commas. By the row's own id, which the
-- others help to find, and without a fence: whoever published it, it has left. Written so that there is one way to do it,
-- from the list to the rows: a plan that was made while the table was empty serves one that is full.
DELETE FROM semel.outbox_pending WHERE ctid = ANY (ARRAY(
    SELECT found.place
    FROM unnest(string_to_array($1, ',')::bigint[], string_to_array($2, ',')::bigint[],
                string_to_array($3, ',')::smallint[]) AS gone (pending_id, position, partition)
    CROSS JOIN LATERAL (
        SELECT p.ctid AS place FROM semel.outbox_pending p
        WHERE p.partition = gone.partition AND p.position = gone.position AND p.pending_id = gone.pending_id
        OFFSET 0) found))
