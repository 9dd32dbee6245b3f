SELECT message_id, tenant, topic, source_partition, source_offset, order_key, type, version, payload, headers, attempts, reason,
       parked_at
FROM semel_inbox_parked WHERE consumer = $1 AND message_id = $2
