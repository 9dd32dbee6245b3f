-- One row as long as $1 is the one who streams; nobody takes its place before this transaction has ended.
SELECT mode FROM semel.outbox_feed WHERE owner = $1 AND mode <> 'polling' FOR SHARE
