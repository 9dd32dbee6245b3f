-- A queue is planned as the table happened to be, often empty; a plan that scans it would be kept while it grows. From
-- row to row by an index is right for every size, and one plan for all: making it anew costs a tenth of the read.
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
       set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
       set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)
