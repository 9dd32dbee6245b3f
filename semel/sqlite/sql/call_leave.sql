UPDATE semel_call SET status = 'unknown', updated_at = semel_now()
WHERE identity = $1 AND status = 'intended'
