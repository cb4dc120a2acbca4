-- Calls that cost no unit and whose answers nobody needs any more, by day: they stay in the books, and take no room.
CREATE TABLE summed_calls (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  -- As `usage` shows it, in UTC.
  day            TEXT NOT NULL,
  operation      TEXT NOT NULL,
  -- Empty: by hand.
  run_id         TEXT NOT NULL,
  -- Sent, and answered from what was owned.
  calls          INTEGER NOT NULL,
  owned          INTEGER NOT NULL,
  PRIMARY KEY (environment_id, day, operation, run_id)
) STRICT, WITHOUT ROWID;

-- Looks at what the watch says that were answered with the same bytes.
CREATE INDEX calls_looks ON calls (raw_sha256) WHERE operation = 'watchHistory' AND charge = 'charged';
