-- What is found may have been committed by a transaction that did not wait for its synchronous standby:
-- where there is one, the reader must wait before it lets anyone see it.
SELECT fingerprint, state, coalesce(expires_at <= now(), false), status, headers, body,
       (date_part('epoch', expires_at - now()) * 1000)::bigint,
       current_setting('synchronous_standby_names') <> ''
FROM semel.command_record WHERE identity = $1
