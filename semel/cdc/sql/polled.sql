-- One row while events are polled; nobody begins to stream before this transaction has ended.
SELECT slot FROM semel.outbox_feed WHERE mode = 'polling' FOR UPDATE
