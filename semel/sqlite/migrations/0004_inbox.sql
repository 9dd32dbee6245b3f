-- The same tables as in PostgreSQL. Times are microseconds since 1970, from semel_now().
CREATE TABLE semel_inbox_message (
    consumer         TEXT    NOT NULL,
    message_id       TEXT    NOT NULL,
    tenant           TEXT    NOT NULL,
    topic            TEXT    NOT NULL,
    source_partition INTEGER,
    source_offset    INTEGER,
    type             TEXT    NOT NULL,
    version          TEXT    NOT NULL,
    payload_hash     BLOB    NOT NULL,
    business_key     TEXT,
    processed_at     INTEGER NOT NULL,
    PRIMARY KEY (consumer, message_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX semel_inbox_message_business_key ON semel_inbox_message (consumer, tenant, business_key)
    WHERE business_key IS NOT NULL;
CREATE INDEX semel_inbox_message_processed ON semel_inbox_message (processed_at);

CREATE TABLE semel_inbox_attempt (
    consumer   TEXT    NOT NULL,
    message_id TEXT    NOT NULL,
    started    INTEGER NOT NULL,
    last_error TEXT    NOT NULL DEFAULT '',
    started_at INTEGER NOT NULL,
    PRIMARY KEY (consumer, message_id)
) WITHOUT ROWID;
CREATE INDEX semel_inbox_attempt_started ON semel_inbox_attempt (started_at);

CREATE TABLE semel_inbox_parked (
    consumer         TEXT    NOT NULL,
    message_id       TEXT    NOT NULL,
    tenant           TEXT    NOT NULL,
    topic            TEXT    NOT NULL,
    source_partition INTEGER,
    source_offset    INTEGER,
    order_key        TEXT    NOT NULL,
    type             TEXT    NOT NULL,
    version          TEXT    NOT NULL,
    payload          BLOB    NOT NULL,
    headers          TEXT    NOT NULL,
    attempts         INTEGER NOT NULL,
    reason           TEXT    NOT NULL,
    parked_at        INTEGER NOT NULL,
    PRIMARY KEY (consumer, message_id)
) WITHOUT ROWID;
