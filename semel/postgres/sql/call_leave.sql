UPDATE semel.call SET status = 'unknown', updated_at = clock_timestamp()
WHERE identity = $1 AND status = 'intended'
