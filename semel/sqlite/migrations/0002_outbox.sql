-- The same tables as in PostgreSQL. There is one writer, so positions follow the order of commits; a position
-- is never given out twice, even if the last event was deleted.
CREATE TABLE semel_outbox_event (
    position          INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id          TEXT    NOT NULL,
    aggregate         INTEGER NOT NULL,
    tenant            TEXT    NOT NULL,
    aggregate_type    TEXT    NOT NULL,
    aggregate_id      TEXT    NOT NULL,
    aggregate_version INTEGER,
    type              TEXT    NOT NULL,
    payload           TEXT    NOT NULL,
    headers           TEXT    NOT NULL,
    partition         INTEGER NOT NULL,
    created_at        INTEGER NOT NULL
);
CREATE UNIQUE INDEX semel_outbox_event_pkey ON semel_outbox_event (event_id);

CREATE TABLE semel_outbox_version (
    tenant            TEXT    NOT NULL,
    aggregate_type    TEXT    NOT NULL,
    aggregate_id      TEXT    NOT NULL,
    aggregate_version INTEGER NOT NULL,
    PRIMARY KEY (tenant, aggregate_type, aggregate_id, aggregate_version)
) WITHOUT ROWID;

-- One narrow row per event that has still to leave. An id is never given out twice: a relay may still be about to
-- delete the row that had it.
CREATE TABLE semel_outbox_pending (
    pending_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    position        INTEGER NOT NULL,
    aggregate       INTEGER NOT NULL,
    event_id        TEXT    NOT NULL,
    attempts        INTEGER NOT NULL DEFAULT 0,
    partition       INTEGER NOT NULL,
    next_attempt_at INTEGER,
    last_error      TEXT
);
-- Read across partitions: there is mostly one relay, and it has them all.
CREATE INDEX semel_outbox_pending_position ON semel_outbox_pending (position, partition);
CREATE INDEX semel_outbox_pending_waiting ON semel_outbox_pending (aggregate, position)
    WHERE next_attempt_at IS NOT NULL;

CREATE TRIGGER semel_outbox_append AFTER INSERT ON semel_outbox_event
BEGIN
    INSERT INTO semel_outbox_pending (position, aggregate, event_id, partition)
    VALUES (NEW.position, NEW.aggregate, NEW.event_id, NEW.partition);
END;

CREATE TABLE semel_outbox_partition (
    partition  INTEGER PRIMARY KEY,
    epoch      INTEGER NOT NULL DEFAULT 0,
    owner      TEXT,
    expires_at INTEGER
);
INSERT INTO semel_outbox_partition (partition)
    WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 63) SELECT n FROM number;

CREATE TABLE semel_outbox_relay (
    relay_id    TEXT    NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL,
    seen_at     INTEGER NOT NULL,
    alive_until INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE semel_outbox_parked (
    event_id       TEXT    NOT NULL PRIMARY KEY,
    position       INTEGER NOT NULL,
    aggregate      INTEGER NOT NULL,
    partition      INTEGER NOT NULL,
    tenant         TEXT    NOT NULL,
    aggregate_type TEXT    NOT NULL,
    aggregate_id   TEXT    NOT NULL,
    attempts       INTEGER NOT NULL,
    reason         TEXT    NOT NULL,
    blocks         INTEGER NOT NULL,
    parked_at      INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX semel_outbox_parked_aggregate ON semel_outbox_parked (aggregate, position);

-- What people did to the outbox by hand. The count grows with each batch, in the transaction of that batch.
CREATE TABLE semel_outbox_audit (
    audit_id   TEXT    NOT NULL PRIMARY KEY,
    action     TEXT    NOT NULL,
    actor      TEXT    NOT NULL,
    detail     TEXT    NOT NULL,
    events     INTEGER NOT NULL,
    begun_at   INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) WITHOUT ROWID;
