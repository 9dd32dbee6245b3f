-- A command's id is the beginning of its identity.
SELECT fingerprint, state, coalesce(expires_at <= now(), false), status, headers, body,
       (date_part('epoch', expires_at - now()) * 1000)::bigint,
       current_setting('synchronous_standby_names') <> '',
       tenant, caller, operation, key, coalesce(attempts, 0), coalesce(last_error, '')
FROM semel.command_record WHERE identity >= $1 AND identity <= $2
