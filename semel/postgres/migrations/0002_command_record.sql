-- One row per command that was executed, or is being executed, outside its own transaction: whose it is,
-- what was asked, and the reply that a repeat gets. A command that runs in one transaction inserts its row
-- once, finished, so there is nothing to update and nothing to clean up after a crash.
--
-- identity is the SHA-256 of tenant, caller, operation and key (semel.identity below); its first 16 bytes
-- are the command's id. fingerprint is the digest of what was asked, behind a byte that names the rules it
-- was made by; to the database it is opaque.
CREATE TABLE semel.command_record (
    identity        bytea       NOT NULL,
    fingerprint     bytea       NOT NULL,
    state           text        NOT NULL,
    tenant          text        NOT NULL,
    caller          text        NOT NULL,
    operation       text        NOT NULL,
    key             text        NOT NULL,
    status          integer,
    headers         text,
    body            bytea,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz,
    -- Of leased and asynchronous commands only.
    payload         bytea,
    epoch           bigint,
    owner           uuid,
    lease_until     timestamptz,
    attempts        integer,
    next_attempt_at timestamptz,
    last_error      text,
    correlation_id  text,
    CONSTRAINT semel_command_record_pkey PRIMARY KEY (identity),
    CONSTRAINT semel_command_record_state CHECK (state IN
        ('received', 'processing', 'succeeded', 'failed', 'failed_transient', 'expired', 'needs_reconciliation')),
    -- What is finished has a reply and an end; what is not has neither.
    CONSTRAINT semel_command_record_finished CHECK
        ((state IN ('succeeded', 'failed')) = (status IS NOT NULL)
         AND (state IN ('succeeded', 'failed', 'expired')) = (expires_at IS NOT NULL))
);
CREATE INDEX semel_command_record_expiry ON semel.command_record (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX semel_command_record_open ON semel.command_record (state, lease_until)
    WHERE state IN ('received', 'processing', 'failed_transient', 'needs_reconciliation');

-- Length-prefixed, so that ('ab', 'c') and ('a', 'bc') differ. The same bytes as the library hashes.
CREATE FUNCTION semel.part(value bytea) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT pg_catalog.int8send(pg_catalog.octet_length(value)::bigint) || value $$;

CREATE FUNCTION semel.identity(tenant text, caller text, operation text, key text) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT pg_catalog.sha256(semel.part('semel.identity'::bytea)
        || semel.part(pg_catalog.convert_to(tenant, 'UTF8')) || semel.part(pg_catalog.convert_to(caller, 'UTF8'))
        || semel.part(pg_catalog.convert_to(operation, 'UTF8')) || semel.part(pg_catalog.convert_to(key, 'UTF8')))
$$;

-- The key of an advisory lock: 64 bits of a digest that is kept apart by domain.
CREATE FUNCTION semel.lock_key(domain text, value bytea) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT ('x' || pg_catalog.encode(pg_catalog.substr(pg_catalog.sha256(
        semel.part(pg_catalog.convert_to(domain, 'UTF8')) || semel.part(value)), 1, 8), 'hex'))::bit(64)::bigint
$$;

-- What a found record means for someone who asks with a fingerprint; NULL: go on.
CREATE FUNCTION semel.claim_verdict(same boolean, state text, expired boolean) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN NOT same THEN 'SM003'
        WHEN expired OR state = 'expired' THEN 'SM004'
        WHEN state IN ('succeeded', 'failed') THEN 'SM002'
        WHEN state = 'needs_reconciliation' THEN 'SM005'
        ELSE 'SM001'
    END
$$;

-- Lets a command execute, or raises: then the rest of the flush is skipped, no business row is touched and
-- the caller learns at once. VOLATILE on purpose: each statement inside has a fresh snapshot, so a record
-- that was committed before the lock was granted is seen. The lookup does not depend on the lock: two
-- repeats of a finished command do not hinder one another. Messages go to the server's log and carry no
-- data of the user's.
CREATE FUNCTION semel.claim_guard(p_identity bytea, p_lock bigint, p_fingerprint bytea) RETURNS void
    LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    locked boolean;
    verdict text;
BEGIN
    locked := pg_catalog.pg_try_advisory_xact_lock(p_lock);
    SELECT semel.claim_verdict(r.fingerprint = p_fingerprint, r.state, r.expires_at <= pg_catalog.clock_timestamp())
        INTO verdict FROM semel.command_record r WHERE r.identity = p_identity;
    IF verdict IS NULL AND NOT locked THEN verdict := 'SM001'; END IF;
    IF verdict IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = verdict, MESSAGE = 'semel: the command is not executed again';
    END IF;
END
$$;

-- For a flush that carries its finished record, whose primary key is the lookup.
CREATE FUNCTION semel.claim_lock(p_lock bigint) RETURNS void
    LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    IF NOT pg_catalog.pg_try_advisory_xact_lock(p_lock) THEN
        RAISE EXCEPTION USING ERRCODE = 'SM001', MESSAGE = 'semel: the command is being executed';
    END IF;
END
$$;

-- For services in any language, in their own transaction:
--   SELECT * FROM semel.claim('shop', 'web', 'payment.create', 'key-1', $1);
-- 'execute': do the work, then call semel.complete in the same transaction. Anything else: roll back and
-- answer by the verdict; with 'replay' the stored reply comes along. The fingerprint is opaque: whatever
-- the service computes from the request, the same for the same request.
CREATE FUNCTION semel.claim(p_tenant text, p_caller text, p_operation text, p_key text, p_fingerprint bytea)
    RETURNS TABLE (verdict text, status integer, headers text, body bytea)
    LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    wanted bytea := semel.identity(p_tenant, p_caller, p_operation, p_key);
    locked boolean;
    code text;
BEGIN
    IF wanted IS NULL OR p_fingerprint IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'semel.claim: tenant, caller, operation, key and '
            'fingerprint must not be NULL';
    END IF;
    -- With an older snapshot a record that was committed meanwhile would not be seen.
    IF pg_catalog.current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = 'semel.claim needs a transaction at READ COMMITTED';
    END IF;
    locked := pg_catalog.pg_try_advisory_xact_lock(semel.lock_key('semel.claim', wanted));
    SELECT semel.claim_verdict(r.fingerprint = p_fingerprint, r.state, r.expires_at <= pg_catalog.clock_timestamp()),
           r.status, r.headers, r.body
        INTO code, status, headers, body FROM semel.command_record r WHERE r.identity = wanted;
    verdict := CASE code
        WHEN 'SM001' THEN 'in_progress'
        WHEN 'SM002' THEN 'replay'
        WHEN 'SM003' THEN 'mismatch'
        WHEN 'SM004' THEN 'expired'
        WHEN 'SM005' THEN 'needs_reconciliation'
        ELSE CASE WHEN locked THEN 'execute' ELSE 'in_progress' END
    END;
    IF verdict <> 'replay' THEN
        status := NULL;
        headers := NULL;
        body := NULL;
    END IF;
    RETURN NEXT;
END
$$;

-- Stores the reply of a command that semel.claim let execute, in the same transaction.
CREATE FUNCTION semel.complete(p_tenant text, p_caller text, p_operation text, p_key text, p_fingerprint bytea,
                               p_status integer, p_headers text, p_body bytea,
                               p_retention interval DEFAULT interval '24 hours')
    RETURNS void
    LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    wanted bytea := semel.identity(p_tenant, p_caller, p_operation, p_key);
BEGIN
    IF wanted IS NULL OR p_fingerprint IS NULL OR p_status IS NULL OR p_retention IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'semel.complete: tenant, caller, operation, key, '
            'fingerprint, status and retention must not be NULL';
    END IF;
    IF p_status NOT BETWEEN 200 AND 599 OR p_retention <= interval '0' OR p_retention > interval '100 years' THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'semel.complete: a status is 200 to 599, a retention more '
            'than nothing and at most 100 years';
    END IF;
    -- What cannot be sent must not be promised.
    IF coalesce(p_headers, '') !~ '^([A-Za-z0-9-]+:[\t -~]*\r?\n?)*$' THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'semel.complete: headers are lines of Name: value in '
            'printable ASCII';
    END IF;
    IF NOT pg_catalog.pg_try_advisory_xact_lock(semel.lock_key('semel.claim', wanted)) THEN
        RAISE EXCEPTION USING ERRCODE = 'SM001', MESSAGE = 'semel.complete: another transaction executes the command',
            HINT = 'call semel.claim first, in the same transaction, and execute only when it says so';
    END IF;
    INSERT INTO semel.command_record (identity, fingerprint, state, tenant, caller, operation, key, status, headers,
                                      body, expires_at)
        VALUES (wanted, p_fingerprint, CASE WHEN p_status < 400 THEN 'succeeded' ELSE 'failed' END, p_tenant, p_caller,
                p_operation, p_key, p_status, coalesce(p_headers, ''), coalesce(p_body, ''::bytea),
                pg_catalog.now() + p_retention);
END
$$;
