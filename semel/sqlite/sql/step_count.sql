SELECT count(*) FROM semel_command_step WHERE identity = $1
