SELECT payload_hash, message_id FROM semel.inbox_message WHERE consumer = $1 AND tenant = $2 AND business_key = $3
