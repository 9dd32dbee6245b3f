-- With a lease that has ended: the next sweep runs it.
UPDATE semel_command_record SET state = 'processing', epoch = coalesce(epoch, 0) + 1, owner = $2, attempts = 0,
    lease_until = semel_now(), last_error = $3
WHERE identity = $1 AND state = 'needs_reconciliation'
