-- Relays that died long ago. Several may come by at once: each passes over what another is deleting.
DELETE FROM semel.outbox_relay WHERE relay_id IN
    (SELECT relay_id FROM semel.outbox_relay WHERE alive_until < now() - interval '1 hour' FOR UPDATE SKIP LOCKED)
