UPDATE semel_outbox_partition SET owner = NULL, expires_at = NULL
WHERE owner = $1 AND partition IN (SELECT value FROM json_each('[' || $2 || ']'))
