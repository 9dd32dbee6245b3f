-- The same tables as in PostgreSQL. Ids, sums and times are TEXT: exact, readable, and in the same order.

CREATE TABLE orders_quote (
    tenant      TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    customer_id TEXT    NOT NULL,
    currency    TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    item_count  INTEGER NOT NULL,
    created_at  TEXT    NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

CREATE TABLE orders_quote_item (
    tenant        TEXT    NOT NULL,
    quote_id      TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    sku           TEXT    NOT NULL,
    quantity      INTEGER NOT NULL,
    unit_price    TEXT    NOT NULL,
    since_version INTEGER NOT NULL,
    PRIMARY KEY (tenant, quote_id, id),
    FOREIGN KEY (tenant, quote_id) REFERENCES orders_quote (tenant, id)
) WITHOUT ROWID;
-- One version brings one item: two writers who saw the same version cannot both add theirs.
CREATE UNIQUE INDEX orders_quote_item_version ON orders_quote_item (tenant, quote_id, since_version);

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
