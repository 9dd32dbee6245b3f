-- How events leave, what the log and the slot have to say to it, and which history of which server this is.
SELECT f.mode, f.slot, f.made, f.low_water::text, f.confirmed_lsn::text, f.history, f.flip::text, f.publication,
       current_setting('wal_level') = 'logical',
       (SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
       (SELECT r.oid::bigint FROM pg_publication p JOIN pg_publication_rel r ON r.prpubid = p.oid
        WHERE p.pubname = 'semel_outbox' AND p.pubinsert AND r.prrelid = 'semel.outbox_event'::regclass),
       s.slot_name IS NOT NULL, coalesce(s.active, false),
       coalesce(s.wal_status = 'lost' OR s.plugin <> 'pgoutput' OR s.database <> current_database(), false),
       (SELECT last_value FROM semel.outbox_mode) = 1
FROM semel.outbox_feed f LEFT JOIN pg_replication_slots s ON s.slot_name = f.slot
