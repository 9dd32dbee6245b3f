SELECT c.identity, c.status, r.state
FROM semel.call c JOIN semel.command_record r ON r.identity = c.identity WHERE c.call_id = $1 FOR UPDATE
