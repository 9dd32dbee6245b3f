-- The pending rows of the events with the positions $1 in the partitions $2, lists with commas.
SELECT p.event_id, p.pending_id
FROM unnest(string_to_array($1, ',')::bigint[], string_to_array($2, ',')::smallint[]) AS e (position, partition)
CROSS JOIN LATERAL (SELECT * FROM semel.outbox_pending o
                    WHERE o.partition = e.partition AND o.position = e.position OFFSET 0) p
ORDER BY p.pending_id
