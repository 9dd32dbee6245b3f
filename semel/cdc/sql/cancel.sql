-- Nobody has begun to stream, so there is nothing to see through.
UPDATE semel.outbox_feed SET mode = 'polling'
WHERE mode = 'cdc' AND NOT made AND (SELECT last_value FROM semel.outbox_mode) = 0
