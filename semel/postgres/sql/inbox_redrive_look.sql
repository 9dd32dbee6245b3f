SELECT asked_by, taken_as IS NOT NULL, put_back FROM semel.inbox_redrive WHERE consumer = $1 AND message_id = $2
