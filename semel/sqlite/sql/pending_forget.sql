-- What an event waits for is part of its pending row, and left with it.
SELECT $1
