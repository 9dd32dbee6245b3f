DELETE FROM semel_outbox_parked WHERE aggregate = $1
