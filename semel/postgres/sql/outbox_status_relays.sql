SELECT relay_id, name, greatest(0, (extract(epoch FROM clock_timestamp() - seen_at) * 1000000)::bigint),
       alive_until > clock_timestamp()
FROM semel.outbox_relay ORDER BY name, relay_id
