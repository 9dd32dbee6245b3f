SELECT consumer, count(*), min(parked_at) FROM semel_inbox_parked GROUP BY consumer ORDER BY consumer
