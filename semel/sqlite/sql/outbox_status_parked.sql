SELECT count(*) FROM semel_outbox_parked
