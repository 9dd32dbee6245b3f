SELECT c.call_id, c.identity, r.state, c.tenant, c.integration, c.operation, c.business_key, c.external_request_id,
       c.last_error, c.attempt, -ceil(extract(epoch FROM c.created_at - clock_timestamp()) * 1000)::bigint
FROM semel.call c JOIN semel.command_record r ON r.identity = c.identity
WHERE c.status = 'unknown' ORDER BY c.created_at LIMIT $1
