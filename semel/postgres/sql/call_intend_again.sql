-- Another attempt of a call that was not done, or may have been done under the same key.
UPDATE semel.call SET status = 'intended', attempt = attempt + 1, epoch = $3, owner = $4,
    asks = asks + CASE WHEN status = 'failed' THEN 0 ELSE 1 END,
    must_start_before = clock_timestamp() + $5 * interval '1 millisecond',
    ends_by = clock_timestamp() + $6 * interval '1 millisecond', next_retry_at = NULL, updated_at = clock_timestamp()
WHERE call_id = $1 AND attempt = $2 AND status <> 'confirmed'
