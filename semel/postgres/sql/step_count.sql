SELECT count(*) FROM semel.command_step WHERE identity = $1
