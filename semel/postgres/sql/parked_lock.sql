-- Nobody settles in this partition meanwhile: what follows a parked event is set aside behind it or not at all.
SELECT epoch FROM semel.outbox_partition WHERE partition = $1 FOR UPDATE
