-- The attempt failed by no fault of the message.
UPDATE semel.inbox_attempt SET started = started - 1 WHERE consumer = $1 AND message_id = $2 AND started > 0
