INSERT INTO semel_outbox_version (tenant, aggregate_type, aggregate_id, aggregate_version) VALUES ($1, $2, $3, $4)
