-- The slot is lost. Noted before another one is made: whoever finds a slot of that name later must know that what it
-- does not bring has still to be taken care of.
UPDATE semel.outbox_feed SET made = false, slots_lost = slots_lost + 1 WHERE owner = $1 AND made
