-- A command's id is the beginning of its identity.
SELECT fingerprint, state, coalesce(expires_at <= semel_now(), 0), status, headers, body,
       (expires_at - semel_now()) / 1000, 0,
       tenant, caller, operation, key, coalesce(attempts, 0), coalesce(last_error, '')
FROM semel_command_record WHERE identity >= $1 AND identity <= $2
