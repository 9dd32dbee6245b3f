-- Not to be taken for $4 microseconds. It does not count as begun: its handler did not fail on the message.
UPDATE semel.inbox_redrive SET taken_as = NULL, begun = begun - 1, put_back = put_back + 1,
    not_before = now() + $4::bigint * interval '1 microsecond'
WHERE consumer = $1 AND message_id = $2 AND taken_as = $3
