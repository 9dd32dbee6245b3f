-- By the root, should the table be divided one day.
CREATE PUBLICATION semel_outbox FOR TABLE semel.outbox_event
    WITH (publish = 'insert', publish_via_partition_root = true)
