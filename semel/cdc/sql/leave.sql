UPDATE semel.outbox_feed SET owner = NULL WHERE owner = $1
