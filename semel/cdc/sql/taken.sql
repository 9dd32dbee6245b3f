-- Whether a slot called $1 is another database's, or not one of ours: slots are of the whole server.
SELECT EXISTS (SELECT 1 FROM pg_replication_slots
               WHERE slot_name = $1 AND (plugin IS DISTINCT FROM 'pgoutput' OR database IS DISTINCT FROM current_database()))
