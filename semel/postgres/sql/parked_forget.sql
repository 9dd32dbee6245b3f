DELETE FROM semel.outbox_parked WHERE aggregate = $1
