-- The last event has left the log, or is pending: polling relays may begin. All that was streamed is below $2.
UPDATE semel.outbox_feed SET mode = 'polling', made = false, owner = NULL, flip = NULL, low_water = $2::text::xid8
WHERE owner = $1 AND mode = 'leaving'
