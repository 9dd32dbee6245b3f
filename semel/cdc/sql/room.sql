-- Whether a slot called $1 can be made.
SELECT (SELECT count(*) FROM pg_replication_slots) < current_setting('max_replication_slots')::int
       OR EXISTS (SELECT 1 FROM pg_replication_slots WHERE slot_name = $1)
