-- The catalogue: what is sold, at which list price in which currency, and what a larger quantity takes off it. A small
-- sample to try things with; a real one is filled by whoever keeps the prices.

CREATE TABLE orders_product (
    sku      text    NOT NULL,
    name     text    NOT NULL,
    tax_rate numeric NOT NULL, -- 0.20 is twenty per cent.
    CONSTRAINT orders_product_pkey PRIMARY KEY (sku)
);

CREATE TABLE orders_product_price (
    sku        text    NOT NULL,
    currency   text    NOT NULL,
    list_price numeric NOT NULL,
    CONSTRAINT orders_product_price_pkey PRIMARY KEY (sku, currency)
);

-- From this quantity on; the largest that applies counts.
CREATE TABLE orders_product_discount (
    sku           text    NOT NULL,
    quantity_from bigint  NOT NULL,
    rate          numeric NOT NULL,
    CONSTRAINT orders_product_discount_pkey PRIMARY KEY (sku, quantity_from)
);

INSERT INTO orders_product (sku, name, tax_rate) VALUES
    ('fiber-100', 'Fibre access, 100 Mbit/s', 0.20),
    ('fiber-1000', 'Fibre access, 1 Gbit/s', 0.20),
    ('router-home', 'Router for a household', 0.20),
    ('router-office', 'Router for an office', 0.20),
    ('static-ip', 'Static IPv4 address', 0.20),
    ('field-visit', 'Visit by a technician, one hour', 0.10),
    ('handbook', 'Printed handbook', 0.05);

INSERT INTO orders_product_price (sku, currency, list_price) VALUES
    ('fiber-100', 'EUR', 29.90), ('fiber-100', 'USD', 32.50),
    ('fiber-1000', 'EUR', 59.90), ('fiber-1000', 'USD', 64.50),
    ('router-home', 'EUR', 89.00), ('router-home', 'USD', 95.00),
    ('router-office', 'EUR', 749.00), ('router-office', 'USD', 799.00),
    ('static-ip', 'EUR', 4.95), ('static-ip', 'USD', 5.25),
    ('field-visit', 'EUR', 75.00), ('field-visit', 'USD', 82.00),
    ('handbook', 'EUR', 12.35), ('handbook', 'USD', 13.40);

INSERT INTO orders_product_discount (sku, quantity_from, rate) VALUES
    ('fiber-100', 10, 0.05), ('fiber-100', 100, 0.12),
    ('fiber-1000', 10, 0.05), ('fiber-1000', 100, 0.15),
    ('router-office', 5, 0.075), ('router-office', 25, 0.125),
    ('static-ip', 8, 0.10),
    ('handbook', 50, 0.333);
