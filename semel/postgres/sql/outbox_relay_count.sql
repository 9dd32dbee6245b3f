-- How many relays share the partitions, and whether anyone may: events that leave through the log have one relay.
SELECT count(*), (SELECT mode = 'polling' FROM semel.outbox_feed) FROM semel.outbox_relay WHERE alive_until > clock_timestamp()
