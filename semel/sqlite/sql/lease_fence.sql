-- One writer at a time: nobody takes the command over while this transaction lasts.
SELECT semel_raise('SM007') WHERE NOT EXISTS
    (SELECT 1 FROM semel_command_record
     WHERE identity = $1 AND epoch = $2 AND owner = $3 AND state = 'processing')
