SELECT audit_id, action, actor, detail, events, begun_at
FROM semel_outbox_audit ORDER BY begun_at DESC, audit_id DESC LIMIT $1
