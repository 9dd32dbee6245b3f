-- Relays that died long ago, and events that were to be tried again a day ago: whoever left them behind did not settle
-- them, and an event that is still there may begin to count anew. Several may come by at once: each passes over what
-- another is deleting.
WITH left_behind AS (
    DELETE FROM semel.outbox_waiting WHERE pending_id IN
        (SELECT pending_id FROM semel.outbox_waiting WHERE next_attempt_at < now() - interval '1 day'
         FOR UPDATE SKIP LOCKED))
DELETE FROM semel.outbox_relay WHERE relay_id IN
    (SELECT relay_id FROM semel.outbox_relay WHERE alive_until < now() - interval '1 hour' FOR UPDATE SKIP LOCKED)
