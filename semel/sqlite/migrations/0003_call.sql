-- The same tables as in PostgreSQL. Times are microseconds since 1970, from semel_now().
CREATE INDEX semel_command_record_due ON semel_command_record (next_attempt_at)
    WHERE state IN ('received', 'failed_transient');

CREATE TABLE semel_call (
    call_id             TEXT    NOT NULL PRIMARY KEY,
    identity            BLOB    NOT NULL REFERENCES semel_command_record (identity) ON DELETE CASCADE,
    name                TEXT    NOT NULL,
    tenant              TEXT    NOT NULL,
    integration         TEXT    NOT NULL,
    operation           TEXT    NOT NULL,
    business_key        TEXT    NOT NULL,
    external_request_id TEXT    NOT NULL,
    capability          TEXT    NOT NULL,
    request             BLOB    NOT NULL,
    status              TEXT    NOT NULL,
    response_status     INTEGER,
    response            BLOB,
    attempt             INTEGER NOT NULL,
    asks                INTEGER NOT NULL DEFAULT 0,
    epoch               INTEGER NOT NULL,
    owner               TEXT    NOT NULL,
    must_start_before   INTEGER NOT NULL,
    ends_by             INTEGER NOT NULL,
    next_retry_at       INTEGER,
    last_error          TEXT    NOT NULL DEFAULT '',
    error_code          TEXT    NOT NULL DEFAULT '',
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    CONSTRAINT semel_call_name UNIQUE (identity, name),
    CONSTRAINT semel_call_external UNIQUE (integration, external_request_id),
    CONSTRAINT semel_call_status CHECK (status IN ('intended', 'confirmed', 'failed', 'unknown')),
    CONSTRAINT semel_call_capability CHECK (capability IN ('takes_key', 'queryable', 'neither')),
    CONSTRAINT semel_call_confirmed CHECK
        ((status = 'confirmed') = (response IS NOT NULL) AND (status = 'confirmed') = (response_status IS NOT NULL)),
    CONSTRAINT semel_call_retry CHECK (next_retry_at IS NULL OR status = 'failed')
) WITHOUT ROWID;
CREATE INDEX semel_call_unfinished ON semel_call (identity) WHERE status IN ('intended', 'unknown');

CREATE TABLE semel_command_step (
    identity   BLOB    NOT NULL REFERENCES semel_command_record (identity) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    result     BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (identity, name)
) WITHOUT ROWID;

CREATE TABLE semel_settlement (
    settlement_id INTEGER PRIMARY KEY AUTOINCREMENT,
    identity      BLOB    NOT NULL,
    call_id       TEXT,
    settlement    TEXT    NOT NULL,
    who           TEXT    NOT NULL,
    reason        TEXT    NOT NULL,
    settled_at    INTEGER NOT NULL
);
