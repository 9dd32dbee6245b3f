-- $1 streams, and everything below the transaction $2 has left, which is confirmed up to $3. Only whoever streams
-- already says so, unless it has just got the slot ($4), which nobody has twice.
UPDATE semel.outbox_feed SET owner = $1, streamed_at = clock_timestamp(),
    low_water = greatest(low_water, $2::text::xid8), confirmed_lsn = greatest(confirmed_lsn, $3::text::pg_lsn)
WHERE mode <> 'polling' AND (owner = $1 OR $4) RETURNING mode, flip::text
