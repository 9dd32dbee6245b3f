-- How events leave, who streams them, and what the slot keeps the server from deleting.
SELECT f.mode, f.slot, f.made, s.slot_name IS NOT NULL, coalesce(s.active, false),
       coalesce(s.wal_status, ''), pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                                                        ELSE pg_current_wal_lsn() END, s.restart_lsn)::bigint,
       greatest(0, (extract(epoch FROM clock_timestamp() - f.streamed_at) * 1000000)::bigint), f.slots_lost,
       (SELECT last_value FROM semel.outbox_mode) = 1
FROM semel.outbox_feed f LEFT JOIN pg_replication_slots s ON s.slot_name = f.slot
