SELECT call_id, name, integration, operation, business_key, external_request_id, capability, request, status,
       response_status, response, attempt, asks, ceil(extract(epoch FROM ends_by - clock_timestamp()) * 1000)::bigint,
       next_retry_at IS NOT NULL, last_error, error_code, epoch, owner
FROM semel.call WHERE identity = $1 ORDER BY created_at, call_id
