-- Keys and digests as bytes, and nothing beside the key in the one table that is written in random order: what an
-- answer is lies with its call, in the order of time. Every commit writes whole pages, so this is what it costs.
CREATE TABLE compact_calls (
  id               INTEGER PRIMARY KEY,
  token            TEXT NOT NULL,
  environment_id   INTEGER NOT NULL REFERENCES environments (id),
  run_id           TEXT,
  row              INTEGER,
  stage            TEXT,
  operation        TEXT NOT NULL,
  request_key      BLOB NOT NULL,
  attempt          INTEGER NOT NULL,
  started_at       INTEGER NOT NULL,
  settled_at       INTEGER,
  duration_ms      INTEGER,
  http_status      INTEGER,
  error_class      TEXT,
  error_code       TEXT,
  request_id       TEXT,
  charge           TEXT CHECK (charge IN ('charged', 'free', 'unknown', 'owned')),
  units_charged    INTEGER,
  -- How an unknown charge was settled later, in words.
  reconciled       TEXT,
  remaining_units  INTEGER,
  raw_sha256       BLOB,
  -- JSON: what was asked, where the answer is owned.
  params           TEXT
) STRICT;
INSERT INTO compact_calls
  SELECT id, token, environment_id, run_id, row, stage, operation, unhex(request_key), attempt, started_at, settled_at,
    duration_ms, http_status, error_class, error_code, request_id, charge, units_charged, reconciled, remaining_units,
    unhex(raw_sha256),
    iif(raw_sha256 IS NULL OR charge = 'owned', NULL, (SELECT params FROM answers
      WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key))
  FROM calls;
DROP TABLE calls;
ALTER TABLE compact_calls RENAME TO calls;
CREATE INDEX calls_open ON calls (id) WHERE settled_at IS NULL;
CREATE INDEX calls_in_doubt ON calls (environment_id, request_key) WHERE charge = 'unknown';
CREATE INDEX calls_by_row ON calls (run_id, row);

-- Bodies by their SHA-256: the same bytes are kept once.
CREATE TABLE compact_bodies (
  sha256    BLOB PRIMARY KEY,
  encoding  TEXT NOT NULL CHECK (encoding IN ('identity', 'brotli')),
  size      INTEGER NOT NULL,
  bytes     BLOB NOT NULL,
  stored_at INTEGER NOT NULL
) STRICT;
INSERT INTO compact_bodies SELECT unhex(sha256), encoding, size, bytes, stored_at FROM bodies;
DROP TABLE bodies;
ALTER TABLE compact_bodies RENAME TO bodies;

-- What we own: the call that brought the newest answer to each request.
CREATE TABLE compact_answers (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  request_key    BLOB NOT NULL,
  call_id        INTEGER NOT NULL,
  PRIMARY KEY (environment_id, request_key)
) STRICT, WITHOUT ROWID;
INSERT INTO compact_answers SELECT environment_id, unhex(request_key), call_id FROM answers;
DROP TABLE answers;
ALTER TABLE compact_answers RENAME TO answers;
