SELECT c.identity, c.status, r.state
FROM semel_call c JOIN semel_command_record r ON r.identity = c.identity WHERE c.call_id = $1
