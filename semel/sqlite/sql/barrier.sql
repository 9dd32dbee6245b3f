-- No standby to wait for.
SELECT 1
