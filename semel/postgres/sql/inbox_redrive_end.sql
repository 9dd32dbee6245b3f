DELETE FROM semel.inbox_redrive WHERE consumer = $1 AND message_id = $2 AND taken_as = $3
