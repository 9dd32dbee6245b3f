-- Which transactions have ended for everyone: xmin:xmax:running.
SELECT pg_current_snapshot()::text
