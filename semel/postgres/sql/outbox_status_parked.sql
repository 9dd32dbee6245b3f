SELECT count(*) FROM semel.outbox_parked
