-- Aggregates with an event that is pending or parked and blocks: what comes after it waits behind it.
SELECT aggregate FROM semel.outbox_pending UNION SELECT aggregate FROM semel.outbox_parked WHERE blocks LIMIT $1
