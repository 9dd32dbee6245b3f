-- Events are to leave through the log, by the slot $1, as soon as someone streams. Changes nothing where they do already.
UPDATE semel.outbox_feed SET mode = 'cdc', slot = CASE WHEN mode = 'polling' THEN $1 ELSE slot END
WHERE mode <> 'leaving' RETURNING slot
