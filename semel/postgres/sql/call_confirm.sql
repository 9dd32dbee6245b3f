UPDATE semel.call SET status = 'confirmed', response_status = $3, response = $4, last_error = '', error_code = '',
    updated_at = clock_timestamp()
WHERE call_id = $1 AND attempt = $2 AND status IN ('intended', 'unknown')
