-- A command's id is the beginning of its identity.
SELECT identity, state FROM semel_command_record WHERE identity >= $1 AND identity <= $2
