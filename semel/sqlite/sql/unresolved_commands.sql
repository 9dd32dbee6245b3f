SELECT identity, tenant, caller, operation, key, coalesce(last_error, ''), coalesce(attempts, 0),
    -((created_at - semel_now() + 999) / 1000)
FROM semel_command_record WHERE state = 'needs_reconciliation' ORDER BY created_at LIMIT $1
