UPDATE semel_call SET status = 'confirmed', response_status = $3, response = $4, last_error = '', error_code = '',
    updated_at = semel_now()
WHERE call_id = $1 AND attempt = $2 AND status IN ('intended', 'unknown')
