-- Whoever makes a slot must be the only one: $1 is, for $2 milliseconds, unless someone else was just now.
UPDATE semel.outbox_feed SET owner = $1, streamed_at = clock_timestamp()
WHERE mode <> 'polling' AND (owner IS NULL OR owner = $1 OR streamed_at IS NULL
                             OR streamed_at < clock_timestamp() - $2 * interval '1 millisecond')
