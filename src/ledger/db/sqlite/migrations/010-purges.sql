-- A purge that has removed and is not proved yet: the digest of what was asked for, and what went, without whose it was.
CREATE TABLE purges (
  request  BLOB PRIMARY KEY,
  -- JSON: counts and runs.
  report   TEXT NOT NULL,
  begun_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
