-- These were numbered by another server and have their pending rows now: retention must not measure them by its numbers.
UPDATE semel.outbox_event SET streamed = false WHERE streamed
