-- Parked messages that a person wants to be handled once more. The consumer of that name, wherever it runs, takes the request
-- under a name of its own (taken_as) and commits that before its handler runs. Nobody else takes it before not_before: until
-- then it is being worked on, or waits after it was put back. How often it was begun and nobody heard of an end is counted.
CREATE TABLE semel.inbox_redrive (
    consumer   text        NOT NULL,
    message_id text        NOT NULL,
    asked_by   text        NOT NULL,
    asked_at   timestamptz NOT NULL DEFAULT now(),
    not_before timestamptz NOT NULL DEFAULT now(),
    taken_as   text,
    begun      integer     NOT NULL DEFAULT 0,
    put_back   integer     NOT NULL DEFAULT 0,
    CONSTRAINT semel_inbox_redrive_pkey PRIMARY KEY (consumer, message_id)
);
