SELECT c.call_id, c.identity, r.state, c.tenant, c.integration, c.operation, c.business_key, c.external_request_id,
       c.last_error, c.attempt, -((c.created_at - semel_now() + 999) / 1000)
FROM semel_call c JOIN semel_command_record r ON r.identity = c.identity
WHERE c.status = 'unknown' ORDER BY c.created_at LIMIT $1
