-- One writer at a time: there is nobody to wait for.
SELECT $1
