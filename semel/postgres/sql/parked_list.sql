SELECT event_id, position, aggregate, partition, tenant, aggregate_type, aggregate_id, attempts, reason, blocks,
       (extract(epoch FROM parked_at) * 1000000)::bigint
FROM semel.outbox_parked ORDER BY position LIMIT $1
