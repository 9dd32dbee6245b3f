-- The same table as semel.command_record in PostgreSQL. Times are microseconds since 1970, from semel_now().
CREATE TABLE semel_command_record (
    identity        BLOB    NOT NULL PRIMARY KEY,
    fingerprint     BLOB    NOT NULL,
    state           TEXT    NOT NULL,
    tenant          TEXT    NOT NULL,
    caller          TEXT    NOT NULL,
    operation       TEXT    NOT NULL,
    key             TEXT    NOT NULL,
    status          INTEGER,
    headers         TEXT,
    body            BLOB,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER,
    payload         BLOB,
    epoch           INTEGER,
    owner           TEXT,
    lease_until     INTEGER,
    attempts        INTEGER,
    next_attempt_at INTEGER,
    last_error      TEXT,
    correlation_id  TEXT,
    CONSTRAINT semel_command_record_state CHECK (state IN
        ('received', 'processing', 'succeeded', 'failed', 'failed_transient', 'expired', 'needs_reconciliation')),
    CONSTRAINT semel_command_record_finished CHECK
        ((state IN ('succeeded', 'failed')) = (status IS NOT NULL)
         AND (state IN ('succeeded', 'failed', 'expired')) = (expires_at IS NOT NULL))
) WITHOUT ROWID;
CREATE INDEX semel_command_record_expiry ON semel_command_record (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX semel_command_record_open ON semel_command_record (state, lease_until)
    WHERE state IN ('received', 'processing', 'failed_transient', 'needs_reconciliation');
