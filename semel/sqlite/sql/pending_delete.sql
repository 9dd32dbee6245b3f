-- Acknowledged by the broker. By the row's own id and without a fence: whoever published it, it has left.
-- The id alone finds it; the positions $2 and the partitions $3 are for others.
DELETE FROM semel_outbox_pending WHERE pending_id IN (SELECT value FROM json_each('[' || $1 || ']'))
  AND $2 IS NOT NULL AND $3 IS NOT NULL
