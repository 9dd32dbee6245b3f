INSERT INTO semel_outbox_audit (audit_id, action, actor, detail, events, begun_at, changed_at)
VALUES ($1, $2, $3, $4, $5, semel_now(), semel_now())
ON CONFLICT (audit_id) DO UPDATE SET events = events + excluded.events, changed_at = excluded.changed_at
