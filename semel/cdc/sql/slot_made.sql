-- The slot begins at $1, in the history $2, with the publication's entry $3. Below the snapshot $4 everything has left or is
-- pending. The mode must still ask for a slot.
UPDATE semel.outbox_feed SET made = true, confirmed_lsn = $1::text::pg_lsn, history = $2, publication = $3,
    low_water = pg_snapshot_xmin($4::text::pg_snapshot)
WHERE mode <> 'polling'
