UPDATE semel_call SET status = $2, response_status = $3, response = $4, last_error = $5, updated_at = semel_now()
WHERE call_id = $1 AND status = 'unknown'
