CREATE SCHEMA IF NOT EXISTS semel;

-- A statement that must change an exact number of rows is wrapped by the driver:
--   WITH semel_changed AS (<statement> RETURNING 1) SELECT semel.expect(count(*), n) FROM semel_changed
-- Raising aborts the transaction, so everything behind it in the same flush, COMMIT included, is
-- skipped. The message goes to the server's log: it carries the two counts and nothing else.
CREATE FUNCTION semel.expect(changed bigint, expected bigint) RETURNS bigint
    LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    IF changed IS DISTINCT FROM expected THEN
        RAISE EXCEPTION USING
            ERRCODE = 'SM006',
            MESSAGE = pg_catalog.format('changed %s rows where %s were expected', changed, expected);
    END IF;
    RETURN changed;
END
$$;
