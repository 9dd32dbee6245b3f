INSERT INTO semel.outbox_audit (audit_id, action, actor, detail, events) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (audit_id) DO UPDATE SET events = outbox_audit.events + excluded.events, changed_at = now()
