-- Relays that died long ago.
DELETE FROM semel_outbox_relay WHERE alive_until < semel_now() - 3600000000
