INSERT INTO semel.command_step (identity, name, result, created_at) VALUES ($1, $2, $3, clock_timestamp())
