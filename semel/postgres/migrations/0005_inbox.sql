-- What consumers have processed. The row commits with the consumer's own changes: it is there exactly if they are, so
-- its primary key is what makes a message count once. How long rows are kept is how long a repeat is known as one.
CREATE TABLE semel.inbox_message (
    consumer         text        NOT NULL,
    message_id       text        NOT NULL,
    tenant           text        NOT NULL,
    topic            text        NOT NULL,
    source_partition bigint,
    source_offset    bigint,
    type             text        NOT NULL,
    version          text        NOT NULL,
    payload_hash     bytea       NOT NULL,
    business_key     text,
    processed_at     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT semel_inbox_message_pkey PRIMARY KEY (consumer, message_id)
);
-- The same fact under another message id.
CREATE UNIQUE INDEX semel_inbox_message_business_key ON semel.inbox_message (consumer, tenant, business_key)
    WHERE business_key IS NOT NULL;
CREATE INDEX semel_inbox_message_processed ON semel.inbox_message (processed_at);

-- Attempts that were begun, committed before the handler's transaction: a message that kills its consumer is counted
-- too. Never part of the row above, or the redelivery would look like a duplicate and the message would be lost.
CREATE TABLE semel.inbox_attempt (
    consumer   text        NOT NULL,
    message_id text        NOT NULL,
    started    integer     NOT NULL,
    last_error text        NOT NULL DEFAULT '',
    started_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT semel_inbox_attempt_pkey PRIMARY KEY (consumer, message_id)
);
CREATE INDEX semel_inbox_attempt_started ON semel.inbox_attempt (started_at);

-- Messages that were set aside, whole, for people.
CREATE TABLE semel.inbox_parked (
    consumer         text        NOT NULL,
    message_id       text        NOT NULL,
    tenant           text        NOT NULL,
    topic            text        NOT NULL,
    source_partition bigint,
    source_offset    bigint,
    order_key        text        NOT NULL,
    type             text        NOT NULL,
    version          text        NOT NULL,
    payload          bytea       NOT NULL,
    headers          text        NOT NULL,
    attempts         integer     NOT NULL,
    reason           text        NOT NULL,
    parked_at        timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT semel_inbox_parked_pkey PRIMARY KEY (consumer, message_id)
);
