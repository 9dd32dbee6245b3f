-- A queue is planned as the table happened to be, often empty; a plan that scans it would be kept while it grows.
SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)
