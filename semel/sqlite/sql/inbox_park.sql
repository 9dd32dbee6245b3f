-- Unless it was processed meanwhile.
INSERT INTO semel_inbox_parked (consumer, message_id, tenant, topic, source_partition, source_offset, order_key, type,
                                version, payload, headers, attempts, reason, parked_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, semel_now()
WHERE NOT EXISTS (SELECT 1 FROM semel_inbox_message WHERE consumer = $1 AND message_id = $2)
ON CONFLICT (consumer, message_id) DO UPDATE SET attempts = excluded.attempts, reason = excluded.reason
