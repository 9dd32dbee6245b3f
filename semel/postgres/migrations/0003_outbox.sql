-- Events that commit with the change they tell of. Append-only: a row is never updated. Within an aggregate
-- (tenant, type, id) positions follow the order of commits, because whoever appends holds the lock of the
-- aggregate's stripe from before it draws the position until its commit is visible. Across aggregates they
-- do not: nobody may use a position as a cursor over all of them.
CREATE SEQUENCE semel.outbox_position AS bigint CACHE 1;

-- How events leave: 0 by pending rows that relays poll, 1 through the server's log (change data capture). A sequence,
-- because its value is the same for everyone at once, whatever their snapshots: whoever appends reads it under the lock
-- of the aggregate's stripe, so that within an aggregate no event goes the old way after one that went the new way.
-- It has a value from the start: who may not read it gets an error, or NULL, and never appends the wrong way.
CREATE SEQUENCE semel.outbox_mode AS bigint MINVALUE 0 MAXVALUE 1 START 0 CACHE 1;
SELECT setval('semel.outbox_mode', 0);

-- Whether an event that is appended now is to be streamed. The transaction has its number before it looks: whoever
-- waits for the transactions that saw the old value knows them by their numbers. One expression, so that it becomes
-- part of the statement that asks.
CREATE FUNCTION semel.outbox_streamed() RETURNS boolean
    LANGUAGE sql VOLATILE
AS $$
    SELECT CASE WHEN pg_catalog.pg_current_xact_id() IS NOT NULL
                THEN pg_catalog.pg_sequence_last_value('semel.outbox_mode') = 1 END
$$;

CREATE TABLE semel.outbox_event (
    event_id          uuid        NOT NULL CONSTRAINT semel_outbox_event_pkey PRIMARY KEY,
    position          bigint      NOT NULL,
    aggregate         bigint      NOT NULL,
    tenant            text        NOT NULL,
    aggregate_type    text        NOT NULL,
    aggregate_id      text        NOT NULL,
    aggregate_version bigint,
    type              text        NOT NULL,
    payload           text        NOT NULL,
    headers           text        NOT NULL,
    partition         smallint    NOT NULL,
    transaction_id    xid8        NOT NULL DEFAULT pg_current_xact_id(),
    created_at        timestamptz NOT NULL DEFAULT now(),
    streamed          boolean     NOT NULL DEFAULT semel.outbox_streamed()
);

-- The one row about how events leave. `cdc`: through the log, by a slot that one relay reads at a time; `leaving`: no
-- longer, once everything that went through the log has left. Everything that was to be streamed and whose
-- transaction is below `low_water` has left or is pending; were the slot lost, the rest would be sent again.
CREATE TABLE semel.outbox_feed (
    single        boolean     NOT NULL DEFAULT true CONSTRAINT semel_outbox_feed_pkey PRIMARY KEY CHECK (single),
    mode          text        NOT NULL DEFAULT 'polling' CHECK (mode IN ('polling', 'cdc', 'leaving')),
    slot          text,
    made          boolean     NOT NULL DEFAULT false,
    owner         uuid,
    streamed_at   timestamptz,
    low_water     xid8,
    confirmed_lsn pg_lsn,
    history       text,
    publication   bigint,
    flip          xid8,
    slots_lost    bigint      NOT NULL DEFAULT 0
);
INSERT INTO semel.outbox_feed DEFAULT VALUES;

-- Apart from the events, which may be divided by event id and could then not keep it unique.
CREATE TABLE semel.outbox_version (
    tenant            text   NOT NULL,
    aggregate_type    text   NOT NULL,
    aggregate_id      text   NOT NULL,
    aggregate_version bigint NOT NULL,
    CONSTRAINT semel_outbox_version_pkey PRIMARY KEY (tenant, aggregate_type, aggregate_id, aggregate_version)
);

-- One narrow row per event that has still to leave. Deleted when the broker has acknowledged it, never updated. It has
-- an id of its own, the event's position at first and a new number of the same sequence when the event is sent once
-- more: never the id of a row that a relay may still be about to delete. Rows are found by partition and position. Every
-- append pays for what this table has: another index, even one that a new row does not enter, would be dear.
CREATE TABLE semel.outbox_pending (
    pending_id bigint   NOT NULL DEFAULT nextval('semel.outbox_position'),
    position   bigint   NOT NULL,
    aggregate  bigint   NOT NULL,
    event_id   uuid     NOT NULL,
    partition  smallint NOT NULL
);
CREATE INDEX semel_outbox_pending_partition ON semel.outbox_pending (partition, position);

-- The pending rows that a broker has not taken: until when each waits, and hides the later events of its aggregate. Goes
-- with its pending row, whose id is never used again.
CREATE TABLE semel.outbox_waiting (
    pending_id      bigint      NOT NULL CONSTRAINT semel_outbox_waiting_pkey PRIMARY KEY,
    position        bigint      NOT NULL,
    aggregate       bigint      NOT NULL,
    partition       smallint    NOT NULL,
    attempts        integer     NOT NULL,
    next_attempt_at timestamptz NOT NULL,
    last_error      text        NOT NULL
);
CREATE INDEX semel_outbox_waiting_aggregate ON semel.outbox_waiting (aggregate, position);

-- Who relays which partition. The epoch grows whenever a partition changes hands; whoever lost it can change
-- nothing that needs it any more.
CREATE TABLE semel.outbox_partition (
    partition  smallint    NOT NULL CONSTRAINT semel_outbox_partition_pkey PRIMARY KEY,
    epoch      bigint      NOT NULL DEFAULT 0,
    owner      uuid,
    expires_at timestamptz
);
INSERT INTO semel.outbox_partition (partition) SELECT n FROM generate_series(0, 63) AS n;

-- The relays that are alive, so that each takes its fair share.
CREATE TABLE semel.outbox_relay (
    relay_id    uuid        NOT NULL CONSTRAINT semel_outbox_relay_pkey PRIMARY KEY,
    name        text        NOT NULL,
    seen_at     timestamptz NOT NULL,
    alive_until timestamptz NOT NULL
);

-- Events that were set aside, for people. While one of them `blocks`, the later events of its aggregate are set
-- aside behind it, so that they can all be sent once more in their order.
CREATE TABLE semel.outbox_parked (
    event_id       uuid        NOT NULL CONSTRAINT semel_outbox_parked_pkey PRIMARY KEY,
    position       bigint      NOT NULL,
    aggregate      bigint      NOT NULL,
    partition      smallint    NOT NULL,
    tenant         text        NOT NULL,
    aggregate_type text        NOT NULL,
    aggregate_id   text        NOT NULL,
    attempts       integer     NOT NULL,
    reason         text        NOT NULL,
    blocks         boolean     NOT NULL,
    parked_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX semel_outbox_parked_aggregate ON semel.outbox_parked (aggregate, position);

-- What people did to the outbox by hand. The count grows with each batch, in the transaction of that batch.
CREATE TABLE semel.outbox_audit (
    audit_id   uuid        NOT NULL CONSTRAINT semel_outbox_audit_pkey PRIMARY KEY,
    action     text        NOT NULL,
    actor      text        NOT NULL,
    detail     text        NOT NULL,
    events     bigint      NOT NULL,
    begun_at   timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now()
);

-- An aggregate's number: 64 bits of its digest. Its last six bits are the partition, its last twelve the lock
-- stripe. The same as the library computes.
CREATE FUNCTION semel.aggregate_number(tenant text, aggregate_type text, aggregate_id text) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT ('x' || pg_catalog.encode(pg_catalog.substr(pg_catalog.sha256(semel.part('semel.aggregate'::bytea)
        || semel.part(pg_catalog.convert_to(tenant, 'UTF8')) || semel.part(pg_catalog.convert_to(aggregate_type, 'UTF8'))
        || semel.part(pg_catalog.convert_to(aggregate_id, 'UTF8'))), 1, 8), 'hex'))::bit(64)::bigint
$$;

CREATE FUNCTION semel.stripe_lock(aggregate bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT semel.lock_key('semel.append', pg_catalog.int2send((aggregate & 4095)::smallint)) $$;

-- A UUIDv7 by the server's clock.
CREATE FUNCTION semel.new_uuid() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$
    SELECT pg_catalog.encode(pg_catalog.set_bit(pg_catalog.set_bit(pg_catalog.overlay(
        pg_catalog.uuid_send(pg_catalog.gen_random_uuid()), pg_catalog.substr(pg_catalog.int8send(
            (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint), 3), 1, 6),
        52, 1), 53, 1), 'hex')::uuid
$$;

-- Events that plain SQL appended, until the COMMIT of their transaction; nobody else ever sees a row here, and a
-- crash leaves none that matters.
CREATE UNLOGGED TABLE semel.outbox_staged (
    staged_id         bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT semel_outbox_staged_pkey PRIMARY KEY,
    event_id          uuid   NOT NULL,
    aggregate         bigint NOT NULL,
    tenant            text   NOT NULL,
    aggregate_type    text   NOT NULL,
    aggregate_id      text   NOT NULL,
    aggregate_version bigint,
    type              text   NOT NULL,
    payload           text   NOT NULL,
    headers           text   NOT NULL
);

-- Locks taken in mid-transaction would deadlock with those that others take in their last flush, so they are taken
-- at COMMIT, all at once and sorted. The first row's trigger moves every row of the transaction; whatever else is
-- visible from its id on is the transaction's own.
CREATE FUNCTION semel.outbox_release() RETURNS trigger
    LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    stripe bigint;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM semel.outbox_staged s WHERE s.staged_id = NEW.staged_id) THEN
        RETURN NULL;
    END IF;
    FOR stripe IN SELECT DISTINCT semel.stripe_lock(s.aggregate) FROM semel.outbox_staged s
                  WHERE s.staged_id >= NEW.staged_id ORDER BY 1
    LOOP
        PERFORM pg_catalog.pg_advisory_xact_lock(stripe);
    END LOOP;
    WITH moved AS (
        DELETE FROM semel.outbox_staged s WHERE s.staged_id >= NEW.staged_id RETURNING s.*
    ), versions AS (
        INSERT INTO semel.outbox_version (tenant, aggregate_type, aggregate_id, aggregate_version)
        SELECT m.tenant, m.aggregate_type, m.aggregate_id, m.aggregate_version FROM moved m
        WHERE m.aggregate_version IS NOT NULL
    ), events AS (
        INSERT INTO semel.outbox_event (event_id, position, aggregate, tenant, aggregate_type, aggregate_id,
                                        aggregate_version, type, payload, headers, partition)
        SELECT m.event_id, pg_catalog.nextval('semel.outbox_position'), m.aggregate, m.tenant, m.aggregate_type,
               m.aggregate_id, m.aggregate_version, m.type, m.payload, m.headers, (m.aggregate & 63)::smallint
        FROM (SELECT * FROM moved ORDER BY staged_id) m
        RETURNING position, aggregate, event_id, partition, streamed
    )
    INSERT INTO semel.outbox_pending (pending_id, position, aggregate, event_id, partition)
    SELECT e.position, e.position, e.aggregate, e.event_id, e.partition FROM events e WHERE NOT e.streamed
    ORDER BY e.position;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER outbox_release AFTER INSERT ON semel.outbox_staged DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION semel.outbox_release();

-- For services in any language, anywhere in their own transaction:
--   SELECT semel.append('shop', 'order', 'o-1', 7, 'order.created', '{"id":"o-1"}');
-- The event leaves if and only if the transaction commits. Returns its id. The version may be NULL; where it is
-- given, a second event of the aggregate with the same version fails the COMMIT (23505).
CREATE FUNCTION semel.append(p_tenant text, p_aggregate_type text, p_aggregate_id text, p_aggregate_version bigint,
                             p_type text, p_payload text, p_headers text DEFAULT '{}')
    RETURNS uuid
    LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    id uuid := semel.new_uuid();
BEGIN
    IF p_tenant IS NULL OR p_aggregate_type IS NULL OR p_aggregate_id IS NULL OR p_type IS NULL OR p_payload IS NULL
        OR p_headers IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'semel.append: only the version of the aggregate may be NULL';
    END IF;
    PERFORM p_payload::json;
    IF pg_catalog.json_typeof(p_headers::json) <> 'object' THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'semel.append: headers are one JSON object';
    END IF;
    INSERT INTO semel.outbox_staged (event_id, aggregate, tenant, aggregate_type, aggregate_id, aggregate_version, type,
                                     payload, headers)
        VALUES (id, semel.aggregate_number(p_tenant, p_aggregate_type, p_aggregate_id), p_tenant, p_aggregate_type,
                p_aggregate_id, p_aggregate_version, p_type, p_payload, p_headers);
    RETURN id;
END
$$;
