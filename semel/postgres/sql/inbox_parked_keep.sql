-- It stays parked. Never inserted: what was processed meanwhile is not parked any more.
UPDATE semel.inbox_parked SET attempts = attempts + $3, reason = $4 WHERE consumer = $1 AND message_id = $2
