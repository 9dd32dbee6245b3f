-- Unlike a renewal it shortens, too.
UPDATE semel_command_record SET lease_until = semel_now() + $4 * 1000
WHERE identity = $1 AND epoch = $2 AND owner = $3 AND state = 'processing'
