SELECT fingerprint, state, coalesce(expires_at <= semel_now(), 0), status, headers, body,
       (expires_at - semel_now()) / 1000, 0
FROM semel_command_record WHERE identity = $1
