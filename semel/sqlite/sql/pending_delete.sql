-- Acknowledged by the broker. By the row's own id and without a fence: whoever published it, it has left.
DELETE FROM semel_outbox_pending WHERE pending_id IN (SELECT value FROM json_each('[' || $1 || ']'))
