SELECT state, fingerprint, coalesce(epoch, 0), owner, coalesce(attempts, 0),
       coalesce(((next_attempt_at - semel_now() + 999) / 1000), 0)
FROM semel_command_record WHERE identity = $1
