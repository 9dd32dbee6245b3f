DELETE FROM semel.outbox_relay WHERE relay_id = $1
