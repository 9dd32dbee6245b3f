-- The same tables as in PostgreSQL. There is one writer, so positions follow the order of commits; a position
-- is never given out twice, even if the last event was deleted.
CREATE TABLE semel_outbox_event (
    position          INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id          TEXT    NOT NULL,
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
