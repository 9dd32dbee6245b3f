-- Parked messages that a person wants to be handled once more. The consumer of that name, wherever it runs, takes the request
-- under a name of its own (taken_as) and commits that before its handler runs. Nobody else takes it before not_before: until
-- then it is being worked on, or waits after it was put back. How often it was begun and nobody heard of an end is counted.
CREATE TABLE semel_inbox_redrive (
    consumer   TEXT    NOT NULL,
    message_id TEXT    NOT NULL,
    asked_by   TEXT    NOT NULL,
    asked_at   INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    taken_as   TEXT,
    begun      INTEGER NOT NULL DEFAULT 0,
    put_back   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (consumer, message_id)
) WITHOUT ROWID;
