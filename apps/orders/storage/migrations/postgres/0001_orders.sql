-- Every table carries its tenant, and every key begins with it: what one tenant has, no other can see or collide with.

CREATE TABLE orders_quote (
    tenant      text        NOT NULL,
    id          uuid        NOT NULL,
    customer_id text        NOT NULL,
    currency    text        NOT NULL,
    state       text        NOT NULL,
    revision    bigint      NOT NULL,
    version     bigint      NOT NULL,
    item_count  bigint      NOT NULL,
    created_at  timestamptz NOT NULL,
    CONSTRAINT orders_quote_pkey PRIMARY KEY (tenant, id)
);

CREATE TABLE orders_quote_item (
    tenant        text    NOT NULL,
    quote_id      uuid    NOT NULL,
    id            uuid    NOT NULL,
    sku           text    NOT NULL,
    quantity      bigint  NOT NULL,
    unit_price    numeric NOT NULL,
    since_version bigint  NOT NULL,
    CONSTRAINT orders_quote_item_pkey PRIMARY KEY (tenant, quote_id, id),
    CONSTRAINT orders_quote_item_quote FOREIGN KEY (tenant, quote_id) REFERENCES orders_quote (tenant, id)
);
-- One version brings one item: two writers who saw the same version cannot both add theirs.
CREATE UNIQUE INDEX orders_quote_item_version ON orders_quote_item (tenant, quote_id, since_version);

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
