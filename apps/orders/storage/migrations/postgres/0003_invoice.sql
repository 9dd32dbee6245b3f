-- What customers owe. The unique index is the last word on one invoice for one order, also when the message that asked for
-- it was forgotten long ago.

CREATE TABLE orders_invoice (
    tenant      text        NOT NULL,
    id          uuid        NOT NULL,
    order_id    uuid        NOT NULL,
    customer_id text        NOT NULL,
    currency    text        NOT NULL,
    net         numeric     NOT NULL,
    tax         numeric     NOT NULL,
    gross       numeric     NOT NULL,
    issued_at   timestamptz NOT NULL,
    CONSTRAINT orders_invoice_pkey PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX orders_invoice_of_order ON orders_invoice (tenant, order_id);
