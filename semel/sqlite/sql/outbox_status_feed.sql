-- There is no log to stream: events are polled.
SELECT 'polling', NULL, 0, 0, 0, '', NULL, NULL, 0, 0
