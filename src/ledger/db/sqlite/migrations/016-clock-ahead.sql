-- Times in the ledger that lay ahead of the clock when it was opened for work: since when that is known, and what was found.
CREATE TABLE clock_ahead (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  -- By the clock that they lay ahead of.
  found_at     INTEGER NOT NULL,
  latest_at    INTEGER NOT NULL,
  answers      INTEGER NOT NULL,
  -- The last of the calls that are dated so: a later one is found anew.
  last_call_id INTEGER NOT NULL
) STRICT;
