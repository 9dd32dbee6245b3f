-- Its COMMIT waits for the synchronous standby, and with it for everything before it in the log. A session
-- that was told not to wait is told to for this one.
SELECT set_config('synchronous_commit',
                  CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
                       THEN 'on' ELSE current_setting('synchronous_commit') END, true),
       pg_logical_emit_message(true, 'semel.barrier', '')
