-- Companies that the provider's watch was asked to watch, by their v2 IDs.
CREATE TABLE watches (
  id             INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  company_id     TEXT NOT NULL,
  -- JSON: the fields that were asked for; null: those of the account.
  fields         TEXT,
  -- 0: it was watched before we asked, and is not ours to remove.
  ours           INTEGER NOT NULL,
  asked_at       INTEGER NOT NULL,
  -- Null: no answer has come.
  registered_at  INTEGER,
  -- When its history was asked for that came last.
  read_at        INTEGER,
  -- A callback named it: when that was taken in. Null once its history was read.
  hinted_at      INTEGER,
  UNIQUE (environment_id, company_id)
) STRICT;

-- What the provider's history says has changed. Reading it twice adds nothing.
CREATE TABLE watch_events (
  id             INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  company_id     TEXT NOT NULL,
  event_type     TEXT,
  status         TEXT,
  message        TEXT,
  date_created   TEXT,
  -- JSON: what else the record said.
  extra          TEXT,
  -- Of all that the record said.
  digest         BLOB NOT NULL,
  heard_at       INTEGER NOT NULL,
  raw_sha256     BLOB NOT NULL,
  -- The run that the start began which heard it; null: it was heard by hand.
  run_id         TEXT,
  UNIQUE (environment_id, company_id, digest)
) STRICT;
