SELECT audit_id, action, actor, detail, events, (extract(epoch FROM begun_at) * 1000000)::bigint
FROM semel.outbox_audit ORDER BY begun_at DESC, audit_id DESC LIMIT $1
