DELETE FROM semel_outbox_relay WHERE relay_id = $1
