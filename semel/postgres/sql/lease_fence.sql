SELECT semel.fence($1, $2, $3)
