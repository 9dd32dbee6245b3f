SELECT count(*) FROM semel_outbox_relay WHERE alive_until > semel_now()
