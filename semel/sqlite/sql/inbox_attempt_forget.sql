DELETE FROM semel_inbox_attempt WHERE consumer = $1 AND message_id = $2
