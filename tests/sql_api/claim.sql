-- What a service does in plain SQL. Run by psql against a database with Semel's schema and the table payment;
-- claim.expected holds what must come out.
\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
\pset null (null)

\echo # the first execution: claim, work, complete
BEGIN;
SELECT * FROM semel.claim('shop', 'psql', 'payment.create', 'k1', '\x01aa');
INSERT INTO payment (id, amount) VALUES ('k1', 1);
\echo # meanwhile, from a second connection
\! psql -X -q -A -t "$SEMEL_TEST_DATABASE" -c "SELECT verdict FROM semel.claim('shop', 'psql', 'payment.create', 'k1', '\x01aa')"
SELECT semel.complete('shop', 'psql', 'payment.create', 'k1', '\x01aa', 201, E'Location: /payments/k1\n', '\x00ff0a7b7d');
COMMIT;

\echo # a repeat gets the same bytes
SELECT * FROM semel.claim('shop', 'psql', 'payment.create', 'k1', '\x01aa');
\echo # from a second connection too
\! psql -X -q -A -t "$SEMEL_TEST_DATABASE" -c "SELECT verdict, body FROM semel.claim('shop', 'psql', 'payment.create', 'k1', '\x01aa')"
\echo # another request under the same key
SELECT * FROM semel.claim('shop', 'psql', 'payment.create', 'k1', '\x01ab');
\echo # the same key of someone else
SELECT verdict FROM semel.claim('mall', 'psql', 'payment.create', 'k1', '\x01aa');
SELECT verdict FROM semel.claim('shop', 'web', 'payment.create', 'k1', '\x01aa');
SELECT verdict FROM semel.claim('shop', 'psql', 'payment.refund', 'k1', '\x01aa');

\echo # a rollback leaves nothing
BEGIN;
SELECT verdict FROM semel.claim('shop', 'psql', 'payment.create', 'k2', '\x01');
INSERT INTO payment (id, amount) VALUES ('k2', 1);
SELECT semel.complete('shop', 'psql', 'payment.create', 'k2', '\x01', 201, NULL, NULL);
ROLLBACK;
SELECT verdict FROM semel.claim('shop', 'psql', 'payment.create', 'k2', '\x01');
SELECT count(*) FROM payment WHERE id = 'k2';

\echo # a reply without headers and body
BEGIN;
SELECT verdict FROM semel.claim('shop', 'psql', 'payment.create', 'k3', '\x01');
SELECT semel.complete('shop', 'psql', 'payment.create', 'k3', '\x01', 404, NULL, NULL, interval '1 hour');
COMMIT;
SELECT verdict, status, headers = '', body = '' FROM semel.claim('shop', 'psql', 'payment.create', 'k3', '\x01');
SELECT state, expires_at - created_at FROM semel.command_record WHERE caller = 'psql' AND key = 'k3';

\echo # an expired key, whether or not retention came by
UPDATE semel.command_record SET expires_at = now() - interval '1 second' WHERE caller = 'psql' AND key = 'k3';
SELECT * FROM semel.claim('shop', 'psql', 'payment.create', 'k3', '\x01');
UPDATE semel.command_record SET state = 'expired', status = NULL, headers = NULL, body = NULL
    WHERE caller = 'psql' AND key = 'k3';
SELECT * FROM semel.claim('shop', 'psql', 'payment.create', 'k3', '\x01');
SELECT verdict FROM semel.claim('shop', 'psql', 'payment.create', 'k3', '\x02');

\echo # completing twice is refused by the key of the record
\set ON_ERROR_STOP off
\set VERBOSITY sqlstate
SELECT semel.complete('shop', 'psql', 'payment.create', 'k1', '\x01aa', 201, NULL, NULL);
SELECT semel.complete('shop', 'psql', 'payment.create', NULL, '\x01aa', 201, NULL, NULL);
SELECT semel.complete('shop', 'psql', 'payment.create', 'k4', NULL, 201, NULL, NULL);
SELECT count(*) FROM payment WHERE id LIKE 'k%';

\echo # what cannot be right is refused
\set ON_ERROR_STOP off
SELECT semel.claim('shop', 'psql', 'payment.create', NULL, '\x01');
\echo :SQLSTATE
SELECT semel.complete('shop', 'psql', 'payment.create', 'k9', '\x01', NULL, NULL, NULL);
\echo :SQLSTATE
SELECT semel.complete('shop', 'psql', 'payment.create', 'k9', '\x01', 0, NULL, NULL);
\echo :SQLSTATE
SELECT semel.complete('shop', 'psql', 'payment.create', 'k9', '\x01', 201, '{"Location": "/x"}', NULL);
\echo :SQLSTATE
SELECT semel.complete('shop', 'psql', 'payment.create', 'k9', '\x01', 201, E'Location: /x\nnothing', NULL);
\echo :SQLSTATE
SELECT semel.complete('shop', 'psql', 'payment.create', 'k9', '\x01', 201, NULL, NULL, interval '0');
\echo :SQLSTATE
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT semel.claim('shop', 'psql', 'payment.create', 'k9', '\x01');
\echo :SQLSTATE
ROLLBACK;
SELECT verdict FROM semel.claim('shop', 'psql', 'payment.create', 'k9', '\x01');
