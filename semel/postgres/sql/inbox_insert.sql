INSERT INTO semel.inbox_message (consumer, message_id, tenant, topic, source_partition, source_offset, type, version,
                                 payload_hash, business_key)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
