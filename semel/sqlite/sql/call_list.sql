SELECT call_id, name, integration, operation, business_key, external_request_id, capability, request, status,
       response_status, response, attempt, asks, ((ends_by - semel_now() + 999) / 1000),
       next_retry_at IS NOT NULL, last_error, error_code, epoch, owner
FROM semel_call WHERE identity = $1 ORDER BY created_at, call_id
