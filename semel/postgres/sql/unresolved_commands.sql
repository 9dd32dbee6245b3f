SELECT identity, tenant, caller, operation, key, coalesce(last_error, ''), coalesce(attempts, 0),
    -ceil(extract(epoch FROM created_at - clock_timestamp()) * 1000)::bigint
FROM semel.command_record WHERE state = 'needs_reconciliation' ORDER BY created_at LIMIT $1
