-- Lets the sweeper come at a certain time: sooner or later than the lease would have ended.
UPDATE semel_command_record SET lease_until = semel_now() + $4 * 1000, last_error = $5
WHERE identity = $1 AND epoch = $2 AND owner = $3 AND state = 'processing'
