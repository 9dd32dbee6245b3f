-- How many relays share the partitions, and whether anyone may.
SELECT count(*), 1 FROM semel_outbox_relay WHERE alive_until > semel_now()
