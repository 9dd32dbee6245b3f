SELECT message_id, tenant, topic, source_partition, source_offset, order_key, type, version, payload, headers, attempts, reason,
       (extract(epoch FROM parked_at) * 1000000)::bigint
FROM semel.inbox_parked WHERE consumer = $1 ORDER BY parked_at, message_id LIMIT $2
