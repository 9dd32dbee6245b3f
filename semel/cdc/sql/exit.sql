-- Events are to be polled again. Whoever streams sees it through.
UPDATE semel.outbox_feed SET mode = 'leaving' WHERE mode = 'cdc'
