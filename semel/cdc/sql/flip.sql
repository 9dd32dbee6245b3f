-- From here on appends go the other way: 1 through the log, 0 through pending rows.
SELECT setval('semel.outbox_mode', $1)
