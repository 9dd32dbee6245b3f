-- One writer at a time: nobody executes the command while this runs. $2 is PostgreSQL's lock.
SELECT semel_raise(CASE
    WHEN fingerprint <> $3 THEN 'SM003'
    WHEN state = 'expired' OR expires_at <= semel_now() THEN 'SM004'
    WHEN state IN ('succeeded', 'failed') THEN 'SM002'
    WHEN state = 'needs_reconciliation' THEN 'SM005'
    ELSE 'SM001'
END) FROM semel_command_record WHERE identity = $1
