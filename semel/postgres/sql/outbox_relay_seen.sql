INSERT INTO semel.outbox_relay (relay_id, name, seen_at, alive_until)
VALUES ($1, $2, clock_timestamp(), clock_timestamp() + $3 * interval '1 millisecond')
ON CONFLICT (relay_id) DO UPDATE SET seen_at = excluded.seen_at, alive_until = excluded.alive_until
