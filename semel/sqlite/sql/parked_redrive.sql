-- The parked events of an aggregate, in their order, as if they had never been tried. Each gets a row of its own.
INSERT INTO semel_outbox_pending (position, aggregate, event_id, partition)
SELECT position, aggregate, event_id, partition FROM semel_outbox_parked WHERE aggregate = $1 ORDER BY position
