INSERT INTO semel_command_step (identity, name, result, created_at) VALUES ($1, $2, $3, semel_now())
