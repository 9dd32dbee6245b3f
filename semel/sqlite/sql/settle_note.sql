INSERT INTO semel_settlement (identity, call_id, settlement, who, reason, settled_at) VALUES ($1, $2, $3, $4, $5,
    semel_now())
