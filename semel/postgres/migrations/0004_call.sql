-- Commands with effects outside the database, and asynchronous ones.

-- Workers look for the oldest command that is due.
CREATE INDEX semel_command_record_due ON semel.command_record (next_attempt_at)
    WHERE state IN ('received', 'failed_transient');

-- The journal of calls to other systems. The intent is durable before the call is made, its result after. Whoever
-- writes holds the fence of the command in the same transaction. Times are this database's: nobody makes a call after
-- must_start_before, and after ends_by it is over.
CREATE TABLE semel.call (
    call_id             text        NOT NULL CONSTRAINT semel_call_pkey PRIMARY KEY,
    identity            bytea       NOT NULL
        CONSTRAINT semel_call_command REFERENCES semel.command_record (identity) ON DELETE CASCADE,
    name                text        NOT NULL,
    tenant              text        NOT NULL,
    integration         text        NOT NULL,
    operation           text        NOT NULL,
    business_key        text        NOT NULL,
    external_request_id text        NOT NULL,
    capability          text        NOT NULL,
    request             bytea       NOT NULL,
    status              text        NOT NULL,
    response_status     integer,
    response            bytea,
    attempt             bigint      NOT NULL,
    asks                bigint      NOT NULL DEFAULT 0,
    epoch               bigint      NOT NULL,
    owner               uuid        NOT NULL,
    must_start_before   timestamptz NOT NULL,
    ends_by             timestamptz NOT NULL,
    next_retry_at       timestamptz,
    last_error          text        NOT NULL DEFAULT '',
    error_code          text        NOT NULL DEFAULT '',
    created_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT semel_call_name UNIQUE (identity, name),
    CONSTRAINT semel_call_external UNIQUE (integration, external_request_id),
    CONSTRAINT semel_call_status CHECK (status IN ('intended', 'confirmed', 'failed', 'unknown')),
    CONSTRAINT semel_call_capability CHECK (capability IN ('takes_key', 'queryable', 'neither')),
    CONSTRAINT semel_call_confirmed CHECK
        ((status = 'confirmed') = (response IS NOT NULL) AND (status = 'confirmed') = (response_status IS NOT NULL)),
    -- Only what was certainly not done may be tried again.
    CONSTRAINT semel_call_retry CHECK (next_retry_at IS NULL OR status = 'failed')
);
CREATE INDEX semel_call_unfinished ON semel.call (identity) WHERE status IN ('intended', 'unknown');

-- Intermediate writes of a leased command, each committed once: a rerun of the handler finds what it returned.
CREATE TABLE semel.command_step (
    identity   bytea       NOT NULL
        CONSTRAINT semel_command_step_command REFERENCES semel.command_record (identity) ON DELETE CASCADE,
    name       text        NOT NULL,
    result     bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT semel_command_step_pkey PRIMARY KEY (identity, name)
);

-- What people settled by hand, and why. Outlives the command.
CREATE TABLE semel.settlement (
    settlement_id bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT semel_settlement_pkey PRIMARY KEY,
    identity      bytea       NOT NULL,
    call_id       text,
    settlement    text        NOT NULL,
    who           text        NOT NULL,
    reason        text        NOT NULL,
    settled_at    timestamptz NOT NULL DEFAULT now()
);

-- Raises unless the lease is the one that counts, and keeps it so until the transaction ends: the row is locked, and
-- whoever wants to take the command over waits or passes by. The message goes to the server's log: no data in it.
CREATE FUNCTION semel.fence(p_identity bytea, p_epoch bigint, p_owner uuid) RETURNS void
    LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    PERFORM 1 FROM semel.command_record r
        WHERE r.identity = p_identity AND r.epoch = p_epoch AND r.owner = p_owner AND r.state = 'processing'
        FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'SM007', MESSAGE = 'semel: the lease was taken over by someone else';
    END IF;
END
$$;
