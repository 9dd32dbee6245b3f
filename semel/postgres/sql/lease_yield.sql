-- Lets the sweeper come at a certain time: sooner or later than the lease would have ended.
UPDATE semel.command_record SET lease_until = clock_timestamp() + $4 * interval '1 millisecond', last_error = $5
WHERE identity = $1 AND epoch = $2 AND owner = $3 AND state = 'processing'
