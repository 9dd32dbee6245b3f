DELETE FROM semel.inbox_attempt WHERE consumer = $1 AND message_id = $2
