-- Another attempt of a call that was not done, or may have been done under the same key.
UPDATE semel_call SET status = 'intended', attempt = attempt + 1, epoch = $3, owner = $4,
    asks = asks + CASE WHEN status = 'failed' THEN 0 ELSE 1 END,
    must_start_before = semel_now() + $5 * 1000, ends_by = semel_now() + $6 * 1000, next_retry_at = NULL,
    updated_at = semel_now()
WHERE call_id = $1 AND attempt = $2 AND status <> 'confirmed'
