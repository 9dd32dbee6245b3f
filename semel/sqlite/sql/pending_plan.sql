-- Its plans do not depend on what a table happened to hold.
SELECT 1
