UPDATE semel.outbox_partition SET owner = NULL, expires_at = NULL
WHERE owner = $1 AND partition = ANY (string_to_array($2, ',')::smallint[])
