SELECT semel.claim_guard($1, $2, $3)
