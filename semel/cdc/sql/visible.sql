-- Whether everything that the snapshot $1 shows can be seen by everyone. The log shows a transaction that waits for a
-- synchronous standby; others see it when it has waited.
SELECT NOT EXISTS (SELECT 1 FROM pg_snapshot_xip(pg_current_snapshot()) AS running
                   WHERE pg_visible_in_snapshot(running, $1::text::pg_snapshot))
