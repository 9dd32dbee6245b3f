SELECT count(*) FROM semel.outbox_relay WHERE alive_until > clock_timestamp()
