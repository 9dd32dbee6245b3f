-- Acknowledged by the broker: ids, positions and partitions, each a list with commas. By the row's own id, which the
-- others help to find, and without a fence: whoever published it, it has left.
DELETE FROM semel.outbox_pending p
USING unnest(string_to_array($1, ',')::bigint[], string_to_array($2, ',')::bigint[],
             string_to_array($3, ',')::smallint[]) AS gone (pending_id, position, partition)
WHERE p.partition = gone.partition AND p.position = gone.position AND p.pending_id = gone.pending_id
