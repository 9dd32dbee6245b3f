UPDATE semel.command_record SET attempts = attempts + 1, lease_until = clock_timestamp() + $4 * interval '1 millisecond'
WHERE identity = $1 AND epoch = $2 AND owner = $3 AND state = 'processing'
