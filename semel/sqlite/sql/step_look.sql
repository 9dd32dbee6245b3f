SELECT result FROM semel_command_step WHERE identity = $1 AND name = $2
