SELECT relay_id, name, max(0, semel_now() - seen_at), alive_until > semel_now()
FROM semel_outbox_relay ORDER BY name, relay_id
