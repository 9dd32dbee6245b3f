-- A queue is planned as the table happened to be, often empty; a plan that scans it would be kept while it grows. One
-- plan serves whatever is asked: making it anew costs a tenth of the read.
SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
       set_config('plan_cache_mode', 'force_generic_plan', true)
