-- For wrk: the same payment over and over, with the key that was used before.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Idempotency-Key"] = "bench-replay"
wrk.body = '{"reference":"bench-replay","amount":"10.00","currency":"EUR"}'
