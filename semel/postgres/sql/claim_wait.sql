-- Waits until nobody executes the command, and keeps others from it until the transaction ends. A standby would
-- grant the lock and show nothing, which proves nothing; it cannot give out a transaction id, so there this fails.
SELECT pg_advisory_xact_lock($1), pg_current_xact_id()
