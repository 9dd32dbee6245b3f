-- Acknowledged by the broker. By the row's own id and without a fence: whoever published it, it has left.
DELETE FROM semel.outbox_pending WHERE pending_id = ANY (string_to_array($1, ',')::bigint[])
