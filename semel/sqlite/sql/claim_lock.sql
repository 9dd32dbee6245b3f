-- One writer at a time: there is nothing to lock.
SELECT $1
