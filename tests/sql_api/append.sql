-- What a service does in plain SQL to tell what happened. Run by psql against a database with Semel's schema;
-- append.expected holds what must come out.
\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
\pset null (null)

\echo # an event is staged until COMMIT, and gets its position there
BEGIN;
SELECT semel.append('shop', 'order', 'o-1', 1, 'order.created', '{"id":"o-1"}', '{"traceparent":"t"}') AS first \gset
SELECT semel.append('shop', 'order', 'o-1', NULL, 'order.noted', '{}') AS second \gset
SELECT count(*) FROM semel.outbox_event;
COMMIT;
SELECT tenant, aggregate_type, aggregate_id, aggregate_version, type, payload, headers FROM semel.outbox_event
    WHERE event_id = :'first';
SELECT type, headers FROM semel.outbox_event ORDER BY position;
SELECT count(*) FROM semel.outbox_staged;
\echo # with the row that says that it has still to leave
SELECT count(*) FROM semel.outbox_event e JOIN semel.outbox_pending p
    USING (event_id, position, aggregate, partition);
\echo # its id is a UUIDv7 of now
SELECT substr(:'first', 15, 1), to_timestamp(('x' || translate(substr(:'first', 1, 13), '-', ''))::bit(48)::bigint
    / 1000.0) BETWEEN now() - interval '1 minute' AND now() + interval '1 minute';

\echo # a rollback leaves nothing
BEGIN;
SELECT semel.append('shop', 'order', 'o-2', 1, 'order.created', '{}') IS NOT NULL;
ROLLBACK;
BEGIN;
SAVEPOINT here;
SELECT semel.append('shop', 'order', 'o-2', 1, 'order.created', '{}') IS NOT NULL;
ROLLBACK TO here;
SELECT semel.append('shop', 'order', 'o-3', 1, 'order.created', '{}') IS NOT NULL;
COMMIT;
SELECT aggregate_id FROM semel.outbox_event ORDER BY position;
SELECT count(*) FROM semel.outbox_staged;

\echo # without a transaction of its own it is one
SELECT semel.append('shop', 'order', 'o-4', 1, 'order.created', '{}') IS NOT NULL;
SELECT count(*) FROM semel.outbox_pending;

\echo # the same version twice fails the COMMIT; what cannot be right is refused
\set ON_ERROR_STOP off
\set VERBOSITY sqlstate
BEGIN;
SELECT semel.append('shop', 'order', 'o-4', 1, 'order.created', '{}') IS NOT NULL;
COMMIT;
\echo :SQLSTATE
SELECT semel.append('shop', 'order', NULL, 1, 'order.created', '{}');
\echo :SQLSTATE
SELECT semel.append('shop', 'order', 'o-5', 1, 'order.created', 'not json');
\echo :SQLSTATE
SELECT semel.append('shop', 'order', 'o-5', 1, 'order.created', '{}', '[]');
\echo :SQLSTATE
SELECT count(*) FROM semel.outbox_event;
