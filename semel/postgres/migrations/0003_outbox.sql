-- Events that commit with the change they tell of. Append-only: a row is never updated. Within an aggregate
-- (tenant, type, id) positions follow the order of commits, because whoever appends holds the lock of the
-- aggregate's stripe from before it draws the position until its commit is visible. Across aggregates they
-- do not: nobody may use a position as a cursor over all of them.
CREATE SEQUENCE semel.outbox_position AS bigint CACHE 1;

CREATE TABLE semel.outbox_event (
    event_id          uuid        NOT NULL CONSTRAINT semel_outbox_event_pkey PRIMARY KEY,
    position          bigint      NOT NULL,
    tenant            text        NOT NULL,
    aggregate_type    text        NOT NULL,
    aggregate_id      text        NOT NULL,
    aggregate_version bigint,
    type              text        NOT NULL,
    payload           text        NOT NULL,
    headers           text        NOT NULL,
    partition         smallint    NOT NULL,
    transaction_id    xid8        NOT NULL DEFAULT pg_current_xact_id(),
    created_at        timestamptz NOT NULL DEFAULT now()
);

-- Apart from the events, which may be divided by event id and could then not keep it unique.
CREATE TABLE semel.outbox_version (
    tenant            text   NOT NULL,
    aggregate_type    text   NOT NULL,
    aggregate_id      text   NOT NULL,
    aggregate_version bigint NOT NULL,
    CONSTRAINT semel_outbox_version_pkey PRIMARY KEY (tenant, aggregate_type, aggregate_id, aggregate_version)
);
