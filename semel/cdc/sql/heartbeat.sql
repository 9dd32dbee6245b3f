-- Comes back through the log, and moves the slot when nobody appends. Every transaction below the number in it has ended
-- before it: once it is confirmed, all of them have left.
SELECT pg_logical_emit_message(true, 'semel.cdc', pg_snapshot_xmin(pg_current_snapshot())::text)
