INSERT INTO semel_outbox_relay (relay_id, name, seen_at, alive_until)
VALUES ($1, $2, semel_now(), semel_now() + $3 * 1000)
ON CONFLICT (relay_id) DO UPDATE SET seen_at = excluded.seen_at, alive_until = excluded.alive_until
