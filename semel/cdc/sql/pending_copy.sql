-- Events that came through the log and cannot leave now: ids, positions, aggregates and partitions, each a list with
-- commas. Each waits in a row of its own, unless it does already. Not taken from the table of events: the log may show
-- a transaction before anyone else can see it.
INSERT INTO semel.outbox_pending (position, aggregate, event_id, partition)
SELECT e.position, e.aggregate, e.event_id, e.partition
FROM unnest(string_to_array($1, ',')::uuid[], string_to_array($2, ',')::bigint[], string_to_array($3, ',')::bigint[],
            string_to_array($4, ',')::smallint[]) AS e (event_id, position, aggregate, partition)
WHERE (SELECT true FROM semel.outbox_pending p WHERE p.partition = e.partition AND p.position = e.position LIMIT 1)
          IS NULL
  AND (SELECT true FROM semel.outbox_parked k WHERE k.event_id = e.event_id) IS NULL
ORDER BY e.position
