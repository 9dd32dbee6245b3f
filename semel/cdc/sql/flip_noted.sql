-- In a transaction of its own, after the flip: every transaction that went the old way has a smaller number.
UPDATE semel.outbox_feed SET flip = pg_current_xact_id() WHERE owner = $1 AND mode = 'leaving'
