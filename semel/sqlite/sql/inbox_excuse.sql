-- The attempt failed by no fault of the message.
UPDATE semel_inbox_attempt SET started = started - 1 WHERE consumer = $1 AND message_id = $2 AND started > 0
