-- One writer at a time: nobody settles in this partition meanwhile.
SELECT epoch FROM semel_outbox_partition WHERE partition = $1
