-- The same tables as in PostgreSQL. Ids, sums and times are TEXT: exact, readable, and in the same order.
-- The unique indexes are the last word on what may happen only once; the code in front of them only asks politely.

-- Offers to customers -------------------------------------------------------------------------------------------------

CREATE TABLE orders_quote (
    tenant       TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    customer_id  TEXT    NOT NULL,
    currency     TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    revision     INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    item_count   INTEGER NOT NULL,
    net          TEXT    NOT NULL,
    tax          TEXT    NOT NULL,
    gross        TEXT    NOT NULL,
    price_run_id TEXT    NOT NULL, -- The last one over all items; empty: none yet.
    valid_until  TEXT    NOT NULL,
    created_at   TEXT    NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
-- For whoever looks for quotes whose time has passed.
CREATE INDEX orders_quote_open ON orders_quote (valid_until)
    WHERE state IN ('DRAFT', 'SUBMITTED', 'APPROVED', 'ACCEPTED');

CREATE TABLE orders_quote_item (
    tenant        TEXT    NOT NULL,
    quote_id      TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    sku           TEXT    NOT NULL,
    quantity      INTEGER NOT NULL,
    instance_key  TEXT    NOT NULL, -- What it will run on ("line-4711"); empty: nothing in particular.
    unit_price    TEXT    NOT NULL,
    agreed        INTEGER NOT NULL, -- 1: the price was agreed with the customer; 0: it is the list's.
    discount      TEXT    NOT NULL,
    net           TEXT    NOT NULL,
    tax_rate      TEXT    NOT NULL,
    tax           TEXT    NOT NULL,
    gross         TEXT    NOT NULL,
    price_run_id  TEXT    NOT NULL,
    since_version INTEGER NOT NULL,
    PRIMARY KEY (tenant, quote_id, id),
    FOREIGN KEY (tenant, quote_id) REFERENCES orders_quote (tenant, id)
) WITHOUT ROWID;
-- One version brings one item: two writers who saw the same version cannot both add theirs.
CREATE UNIQUE INDEX orders_quote_item_version ON orders_quote_item (tenant, quote_id, since_version);

-- One run prices a quote once.
CREATE TABLE orders_price_run (
    tenant     TEXT    NOT NULL,
    quote_id   TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    net        TEXT    NOT NULL,
    tax        TEXT    NOT NULL,
    gross      TEXT    NOT NULL,
    created_at TEXT    NOT NULL,
    PRIMARY KEY (tenant, quote_id, id)
) WITHOUT ROWID;

CREATE TABLE orders_quote_approval (
    tenant     TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    quote_id   TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    needed     INTEGER NOT NULL,
    granted    INTEGER NOT NULL,
    created_at TEXT    NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX orders_quote_approval_pending ON orders_quote_approval (tenant, quote_id, revision)
    WHERE state = 'PENDING';

CREATE TABLE orders_quote_decision (
    tenant     TEXT    NOT NULL,
    quote_id   TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    approver   TEXT    NOT NULL,
    decision   TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    command_id TEXT    NOT NULL,
    decided_at TEXT    NOT NULL,
    PRIMARY KEY (tenant, quote_id, revision, approver)
) WITHOUT ROWID;

CREATE TABLE orders_quote_acceptance (
    tenant      TEXT    NOT NULL,
    quote_id    TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    accepted_by TEXT    NOT NULL,
    command_id  TEXT    NOT NULL,
    accepted_at TEXT    NOT NULL,
    PRIMARY KEY (tenant, quote_id, revision)
) WITHOUT ROWID;

-- Orders, and what has to be done for them ----------------------------------------------------------------------------

CREATE TABLE orders_order (
    tenant            TEXT    NOT NULL,
    id                TEXT    NOT NULL,
    quote_id          TEXT    NOT NULL,
    quote_revision    INTEGER NOT NULL,
    customer_id       TEXT    NOT NULL,
    currency          TEXT    NOT NULL,
    state             TEXT    NOT NULL,
    version           INTEGER NOT NULL,
    net               TEXT    NOT NULL,
    tax               TEXT    NOT NULL,
    gross             TEXT    NOT NULL,
    target_date       TEXT    NOT NULL, -- "2026-12-01"; empty: as soon as possible.
    task_count        INTEGER NOT NULL,
    open_task_count   INTEGER NOT NULL, -- Neither completed nor cancelled.
    failed_task_count INTEGER NOT NULL,
    created_at        TEXT    NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX orders_order_of_quote_revision ON orders_order (tenant, quote_id, quote_revision);

CREATE TABLE orders_order_item (
    tenant       TEXT    NOT NULL,
    order_id     TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    sku          TEXT    NOT NULL,
    quantity     INTEGER NOT NULL,
    instance_key TEXT    NOT NULL, -- Never empty here: what is nothing in particular runs on itself.
    net          TEXT    NOT NULL,
    tax          TEXT    NOT NULL,
    gross        TEXT    NOT NULL,
    PRIMARY KEY (tenant, order_id, id),
    FOREIGN KEY (tenant, order_id) REFERENCES orders_order (tenant, id)
) WITHOUT ROWID;

CREATE TABLE orders_task (
    tenant     TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    order_id   TEXT    NOT NULL,
    item_id    TEXT, -- None: of the order as a whole.
    kind       TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    waits_for  INTEGER NOT NULL, -- How many of those it depends on are not completed.
    failure    TEXT    NOT NULL, -- Of the last attempt; empty: none.
    created_at TEXT    NOT NULL,
    PRIMARY KEY (tenant, id),
    FOREIGN KEY (tenant, order_id) REFERENCES orders_order (tenant, id)
) WITHOUT ROWID;
CREATE INDEX orders_task_of_order ON orders_task (tenant, order_id, id);

CREATE TABLE orders_task_dependency (
    tenant  TEXT NOT NULL,
    task_id TEXT NOT NULL,
    needs   TEXT NOT NULL,
    PRIMARY KEY (tenant, task_id, needs)
) WITHOUT ROWID;
CREATE INDEX orders_task_dependency_needs ON orders_task_dependency (tenant, needs);

-- One row for every attempt that was ever begun: two retries cannot both begin the third.
CREATE TABLE orders_task_attempt (
    tenant     TEXT    NOT NULL,
    task_id    TEXT    NOT NULL,
    attempt    INTEGER NOT NULL,
    command_id TEXT    NOT NULL,
    begun_at   TEXT    NOT NULL,
    PRIMARY KEY (tenant, task_id, attempt)
) WITHOUT ROWID;

CREATE TABLE orders_cancellation (
    tenant       TEXT NOT NULL,
    order_id     TEXT NOT NULL,
    command_id   TEXT NOT NULL,
    reason       TEXT NOT NULL,
    cancelled_by TEXT NOT NULL,
    cancelled_at TEXT NOT NULL,
    PRIMARY KEY (tenant, order_id)
) WITHOUT ROWID;

CREATE TABLE orders_repair (
    tenant      TEXT NOT NULL,
    command_id  TEXT NOT NULL,
    order_id    TEXT NOT NULL,
    task_id     TEXT NOT NULL,
    action      TEXT NOT NULL,
    reason      TEXT NOT NULL,
    repaired_by TEXT NOT NULL,
    repaired_at TEXT NOT NULL,
    PRIMARY KEY (tenant, command_id)
) WITHOUT ROWID;

-- What customers have -------------------------------------------------------------------------------------------------

CREATE TABLE orders_asset (
    tenant       TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    order_id     TEXT    NOT NULL,
    item_id      TEXT    NOT NULL,
    customer_id  TEXT    NOT NULL,
    instance_key TEXT    NOT NULL,
    sku          TEXT    NOT NULL,
    quantity     INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    version      INTEGER NOT NULL,
    created_at   TEXT    NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX orders_asset_active_instance ON orders_asset (tenant, customer_id, instance_key)
    WHERE state IN ('ACTIVE', 'SUSPENDED');
CREATE UNIQUE INDEX orders_asset_of_item ON orders_asset (tenant, order_id, item_id);

-- What others tell us, and what there is to show for it ------------------------------------------------------------------

CREATE TABLE orders_callback (
    tenant      TEXT NOT NULL,
    integration TEXT NOT NULL,
    external_id TEXT NOT NULL,
    command_id  TEXT NOT NULL,
    type        TEXT NOT NULL,
    received_at TEXT NOT NULL,
    PRIMARY KEY (tenant, integration, external_id)
) WITHOUT ROWID;

-- One row for every change of every resource, written with the change and never altered.
CREATE TABLE orders_audit (
    position       INTEGER PRIMARY KEY AUTOINCREMENT, -- Of one resource in the order of its changes.
    tenant         TEXT    NOT NULL,
    id             TEXT    NOT NULL,
    at             TEXT    NOT NULL,
    caller         TEXT    NOT NULL,
    operation      TEXT    NOT NULL,
    command_id     TEXT    NOT NULL,
    correlation_id TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    resource_id    TEXT    NOT NULL,
    parent_id      TEXT, -- Of a task, its order; of an order, its quote.
    from_state     TEXT    NOT NULL, -- Empty: it did not exist.
    to_state       TEXT    NOT NULL,
    version        INTEGER NOT NULL,
    attempt        INTEGER NOT NULL, -- Of the caller's, as it says.
    runs           INTEGER NOT NULL, -- How often the transaction was run until it committed.
    reason         TEXT    NOT NULL
);
CREATE INDEX orders_audit_of_resource ON orders_audit (tenant, resource_id, position);
CREATE INDEX orders_audit_of_parent ON orders_audit (tenant, parent_id, position);

-- How often a command's reply was asked for again, longer than the reply itself is kept.
CREATE TABLE orders_replay (
    tenant     TEXT    NOT NULL,
    command_id TEXT    NOT NULL,
    replays    INTEGER NOT NULL,
    last_at    TEXT    NOT NULL,
    PRIMARY KEY (tenant, command_id)
) WITHOUT ROWID;

-- Payments and cases --------------------------------------------------------------------------------------------------

CREATE TABLE orders_payment (
    tenant     TEXT NOT NULL,
    id         TEXT NOT NULL,
    reference  TEXT NOT NULL,
    amount     TEXT NOT NULL,
    currency   TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX orders_payment_reference ON orders_payment (tenant, reference);

CREATE TABLE orders_case (
    tenant     TEXT NOT NULL,
    id         TEXT NOT NULL,
    subject    TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

CREATE TABLE orders_enforcement_action (
    tenant         TEXT NOT NULL,
    id             TEXT NOT NULL,
    case_id        TEXT NOT NULL,
    violation_code TEXT NOT NULL,
    created_at     TEXT NOT NULL,
    PRIMARY KEY (tenant, id),
    FOREIGN KEY (tenant, case_id) REFERENCES orders_case (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX orders_enforcement_action_once
    ON orders_enforcement_action (tenant, case_id, violation_code);
