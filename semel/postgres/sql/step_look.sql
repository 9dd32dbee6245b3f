SELECT result FROM semel.command_step WHERE identity = $1 AND name = $2
