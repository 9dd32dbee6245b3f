SELECT semel.claim_lock($1)
