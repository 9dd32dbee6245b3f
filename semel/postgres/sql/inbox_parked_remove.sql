DELETE FROM semel.inbox_parked WHERE consumer = $1 AND message_id = $2
