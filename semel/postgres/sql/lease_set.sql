-- Unlike a renewal it shortens, too.
UPDATE semel.command_record SET lease_until = clock_timestamp() + $4 * interval '1 millisecond'
WHERE identity = $1 AND epoch = $2 AND owner = $3 AND state = 'processing'
