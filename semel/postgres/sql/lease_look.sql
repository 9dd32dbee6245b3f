SELECT state, fingerprint, coalesce(epoch, 0), owner, coalesce(attempts, 0),
       coalesce(ceil(extract(epoch FROM next_attempt_at - clock_timestamp()) * 1000)::bigint, 0)
FROM semel.command_record WHERE identity = $1
