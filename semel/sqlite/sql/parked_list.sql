SELECT event_id, position, aggregate, partition, tenant, aggregate_type, aggregate_id, attempts, reason, blocks,
       parked_at
FROM semel_outbox_parked ORDER BY position LIMIT $1
