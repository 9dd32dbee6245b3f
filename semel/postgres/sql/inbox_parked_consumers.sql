SELECT consumer, count(*), (extract(epoch FROM min(parked_at)) * 1000000)::bigint
FROM semel.inbox_parked GROUP BY consumer ORDER BY consumer
