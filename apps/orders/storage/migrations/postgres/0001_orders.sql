-- Every table carries its tenant, and every key begins with it: what one tenant has, no other can see or collide with.
-- The unique indexes are the last word on what may happen only once; the code in front of them only asks politely.

-- Offers to customers -------------------------------------------------------------------------------------------------

CREATE TABLE orders_quote (
    tenant       text        NOT NULL,
    id           uuid        NOT NULL,
    customer_id  text        NOT NULL,
    currency     text        NOT NULL,
    state        text        NOT NULL,
    revision     bigint      NOT NULL,
    version      bigint      NOT NULL,
    item_count   bigint      NOT NULL,
    net          numeric     NOT NULL,
    tax          numeric     NOT NULL,
    gross        numeric     NOT NULL,
    price_run_id text        NOT NULL, -- The last one over all items; empty: none yet.
    valid_until  timestamptz NOT NULL,
    created_at   timestamptz NOT NULL,
    CONSTRAINT orders_quote_pkey PRIMARY KEY (tenant, id)
);
-- For whoever looks for quotes whose time has passed.
CREATE INDEX orders_quote_open ON orders_quote (valid_until)
    WHERE state IN ('DRAFT', 'SUBMITTED', 'APPROVED', 'ACCEPTED');

CREATE TABLE orders_quote_item (
    tenant        text    NOT NULL,
    quote_id      uuid    NOT NULL,
    id            uuid    NOT NULL,
    sku           text    NOT NULL,
    quantity      bigint  NOT NULL,
    instance_key  text    NOT NULL, -- What it will run on ("line-4711"); empty: nothing in particular.
    unit_price    numeric NOT NULL,
    agreed        bigint  NOT NULL, -- 1: the price was agreed with the customer; 0: it is the list's.
    discount      numeric NOT NULL,
    net           numeric NOT NULL,
    tax_rate      numeric NOT NULL,
    tax           numeric NOT NULL,
    gross         numeric NOT NULL,
    price_run_id  text    NOT NULL,
    since_version bigint  NOT NULL,
    CONSTRAINT orders_quote_item_pkey PRIMARY KEY (tenant, quote_id, id),
    CONSTRAINT orders_quote_item_quote FOREIGN KEY (tenant, quote_id) REFERENCES orders_quote (tenant, id)
);
-- One version brings one item: two writers who saw the same version cannot both add theirs.
CREATE UNIQUE INDEX orders_quote_item_version ON orders_quote_item (tenant, quote_id, since_version);

-- One run prices a quote once.
CREATE TABLE orders_price_run (
    tenant     text        NOT NULL,
    quote_id   uuid        NOT NULL,
    id         text        NOT NULL,
    version    bigint      NOT NULL,
    net        numeric     NOT NULL,
    tax        numeric     NOT NULL,
    gross      numeric     NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT orders_price_run_pkey PRIMARY KEY (tenant, quote_id, id)
);

CREATE TABLE orders_quote_approval (
    tenant     text        NOT NULL,
    id         uuid        NOT NULL,
    quote_id   uuid        NOT NULL,
    revision   bigint      NOT NULL,
    state      text        NOT NULL,
    needed     bigint      NOT NULL,
    granted    bigint      NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT orders_quote_approval_pkey PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX orders_quote_approval_pending ON orders_quote_approval (tenant, quote_id, revision)
    WHERE state = 'PENDING';

CREATE TABLE orders_quote_decision (
    tenant     text        NOT NULL,
    quote_id   uuid        NOT NULL,
    revision   bigint      NOT NULL,
    approver   text        NOT NULL,
    decision   text        NOT NULL,
    reason     text        NOT NULL,
    command_id text        NOT NULL,
    decided_at timestamptz NOT NULL,
    CONSTRAINT orders_quote_decision_pkey PRIMARY KEY (tenant, quote_id, revision, approver)
);

CREATE TABLE orders_quote_acceptance (
    tenant      text        NOT NULL,
    quote_id    uuid        NOT NULL,
    revision    bigint      NOT NULL,
    accepted_by text        NOT NULL,
    command_id  text        NOT NULL,
    accepted_at timestamptz NOT NULL,
    CONSTRAINT orders_quote_acceptance_pkey PRIMARY KEY (tenant, quote_id, revision)
);

-- Orders, and what has to be done for them ----------------------------------------------------------------------------

CREATE TABLE orders_order (
    tenant            text        NOT NULL,
    id                uuid        NOT NULL,
    quote_id          uuid        NOT NULL,
    quote_revision    bigint      NOT NULL,
    customer_id       text        NOT NULL,
    currency          text        NOT NULL,
    state             text        NOT NULL,
    version           bigint      NOT NULL,
    net               numeric     NOT NULL,
    tax               numeric     NOT NULL,
    gross             numeric     NOT NULL,
    target_date       text        NOT NULL, -- "2026-12-01"; empty: as soon as possible.
    task_count        bigint      NOT NULL,
    open_task_count   bigint      NOT NULL, -- Neither completed nor cancelled.
    failed_task_count bigint      NOT NULL,
    created_at        timestamptz NOT NULL,
    CONSTRAINT orders_order_pkey PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX orders_order_of_quote_revision ON orders_order (tenant, quote_id, quote_revision);

CREATE TABLE orders_order_item (
    tenant       text    NOT NULL,
    order_id     uuid    NOT NULL,
    id           uuid    NOT NULL,
    sku          text    NOT NULL,
    quantity     bigint  NOT NULL,
    instance_key text    NOT NULL, -- Never empty here: what is nothing in particular runs on itself.
    net          numeric NOT NULL,
    tax          numeric NOT NULL,
    gross        numeric NOT NULL,
    CONSTRAINT orders_order_item_pkey PRIMARY KEY (tenant, order_id, id),
    CONSTRAINT orders_order_item_order FOREIGN KEY (tenant, order_id) REFERENCES orders_order (tenant, id)
);

CREATE TABLE orders_task (
    tenant     text        NOT NULL,
    id         uuid        NOT NULL,
    order_id   uuid        NOT NULL,
    item_id    uuid, -- None: of the order as a whole.
    kind       text        NOT NULL,
    state      text        NOT NULL,
    version    bigint      NOT NULL,
    attempt    bigint      NOT NULL,
    waits_for  bigint      NOT NULL, -- How many of those it depends on are not completed.
    failure    text        NOT NULL, -- Of the last attempt; empty: none.
    created_at timestamptz NOT NULL,
    CONSTRAINT orders_task_pkey PRIMARY KEY (tenant, id),
    CONSTRAINT orders_task_order FOREIGN KEY (tenant, order_id) REFERENCES orders_order (tenant, id)
);
CREATE INDEX orders_task_of_order ON orders_task (tenant, order_id, id);

CREATE TABLE orders_task_dependency (
    tenant  text NOT NULL,
    task_id uuid NOT NULL,
    needs   uuid NOT NULL,
    CONSTRAINT orders_task_dependency_pkey PRIMARY KEY (tenant, task_id, needs)
);
CREATE INDEX orders_task_dependency_needs ON orders_task_dependency (tenant, needs);

-- One row for every attempt that was ever begun: two retries cannot both begin the third.
CREATE TABLE orders_task_attempt (
    tenant     text        NOT NULL,
    task_id    uuid        NOT NULL,
    attempt    bigint      NOT NULL,
    command_id text        NOT NULL,
    begun_at   timestamptz NOT NULL,
    CONSTRAINT orders_task_attempt_pkey PRIMARY KEY (tenant, task_id, attempt)
);

CREATE TABLE orders_cancellation (
    tenant       text        NOT NULL,
    order_id     uuid        NOT NULL,
    command_id   text        NOT NULL,
    reason       text        NOT NULL,
    cancelled_by text        NOT NULL,
    cancelled_at timestamptz NOT NULL,
    CONSTRAINT orders_cancellation_pkey PRIMARY KEY (tenant, order_id)
);

CREATE TABLE orders_repair (
    tenant      text        NOT NULL,
    command_id  text        NOT NULL,
    order_id    uuid        NOT NULL,
    task_id     uuid        NOT NULL,
    action      text        NOT NULL,
    reason      text        NOT NULL,
    repaired_by text        NOT NULL,
    repaired_at timestamptz NOT NULL,
    CONSTRAINT orders_repair_pkey PRIMARY KEY (tenant, command_id)
);

-- What customers have -------------------------------------------------------------------------------------------------

CREATE TABLE orders_asset (
    tenant       text        NOT NULL,
    id           uuid        NOT NULL,
    order_id     uuid        NOT NULL,
    item_id      uuid        NOT NULL,
    customer_id  text        NOT NULL,
    instance_key text        NOT NULL,
    sku          text        NOT NULL,
    quantity     bigint      NOT NULL,
    state        text        NOT NULL,
    version      bigint      NOT NULL,
    created_at   timestamptz NOT NULL,
    CONSTRAINT orders_asset_pkey PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX orders_asset_active_instance ON orders_asset (tenant, customer_id, instance_key)
    WHERE state IN ('ACTIVE', 'SUSPENDED');
CREATE UNIQUE INDEX orders_asset_of_item ON orders_asset (tenant, order_id, item_id);

-- What others tell us, and what there is to show for it ------------------------------------------------------------------

CREATE TABLE orders_callback (
    tenant      text        NOT NULL,
    integration text        NOT NULL,
    external_id text        NOT NULL,
    command_id  text        NOT NULL,
    type        text        NOT NULL,
    received_at timestamptz NOT NULL,
    CONSTRAINT orders_callback_pkey PRIMARY KEY (tenant, integration, external_id)
);

-- One row for every change of every resource, written with the change and never altered.
CREATE TABLE orders_audit (
    position       bigint      GENERATED ALWAYS AS IDENTITY, -- Of one resource in the order of its changes.
    tenant         text        NOT NULL,
    id             uuid        NOT NULL,
    at             timestamptz NOT NULL,
    caller         text        NOT NULL,
    operation      text        NOT NULL,
    command_id     text        NOT NULL,
    correlation_id text        NOT NULL,
    kind           text        NOT NULL,
    resource_id    uuid        NOT NULL,
    parent_id      uuid, -- Of a task, its order; of an order, its quote.
    from_state     text        NOT NULL, -- Empty: it did not exist.
    to_state       text        NOT NULL,
    version        bigint      NOT NULL,
    attempt        bigint      NOT NULL, -- Of the caller's, as it says.
    runs           bigint      NOT NULL, -- How often the transaction was run until it committed.
    reason         text        NOT NULL,
    CONSTRAINT orders_audit_pkey PRIMARY KEY (tenant, id)
);
CREATE INDEX orders_audit_of_resource ON orders_audit (tenant, resource_id, position);
CREATE INDEX orders_audit_of_parent ON orders_audit (tenant, parent_id, position);

-- How often a command's reply was asked for again, longer than the reply itself is kept.
CREATE TABLE orders_replay (
    tenant     text        NOT NULL,
    command_id text        NOT NULL,
    replays    bigint      NOT NULL,
    last_at    timestamptz NOT NULL,
    CONSTRAINT orders_replay_pkey PRIMARY KEY (tenant, command_id)
);

-- Payments and cases --------------------------------------------------------------------------------------------------

CREATE TABLE orders_payment (
    tenant     text        NOT NULL,
    id         uuid        NOT NULL,
    reference  text        NOT NULL,
    amount     numeric     NOT NULL,
    currency   text        NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT orders_payment_pkey PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX orders_payment_reference ON orders_payment (tenant, reference);

CREATE TABLE orders_case (
    tenant     text        NOT NULL,
    id         uuid        NOT NULL,
    subject    text        NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT orders_case_pkey PRIMARY KEY (tenant, id)
);

CREATE TABLE orders_enforcement_action (
    tenant         text        NOT NULL,
    id             uuid        NOT NULL,
    case_id        uuid        NOT NULL,
    violation_code text        NOT NULL,
    created_at     timestamptz NOT NULL,
    CONSTRAINT orders_enforcement_action_pkey PRIMARY KEY (tenant, id),
    CONSTRAINT orders_enforcement_action_of_case FOREIGN KEY (tenant, case_id) REFERENCES orders_case (tenant, id)
);
CREATE UNIQUE INDEX orders_enforcement_action_once
    ON orders_enforcement_action (tenant, case_id, violation_code);
