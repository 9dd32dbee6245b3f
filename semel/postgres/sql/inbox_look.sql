SELECT (SELECT count(*) FROM semel.inbox_message WHERE consumer = $1 AND message_id = $2),
       (SELECT count(*) FROM semel.inbox_parked WHERE consumer = $1 AND message_id = $2)
