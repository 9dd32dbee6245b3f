-- What customers owe. The unique index is the last word on one invoice for one order, also when the message that asked for
-- it was forgotten long ago.

CREATE TABLE orders_invoice (
    tenant      TEXT NOT NULL,
    id          TEXT NOT NULL,
    order_id    TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    currency    TEXT NOT NULL,
    net         TEXT NOT NULL,
    tax         TEXT NOT NULL,
    gross       TEXT NOT NULL,
    issued_at   TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX orders_invoice_of_order ON orders_invoice (tenant, order_id);
