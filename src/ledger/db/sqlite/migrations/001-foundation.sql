-- Where answers come from. Keys are not part of it: a rotated key still owns what was bought.
CREATE TABLE environments (
  id   INTEGER PRIMARY KEY,
  api  TEXT NOT NULL,
  name TEXT NOT NULL,
  UNIQUE (api, name)
) STRICT;

CREATE TABLE runs (
  id              TEXT PRIMARY KEY,
  input_path      TEXT NOT NULL,
  input_sha256    TEXT NOT NULL,
  pipeline_name   TEXT NOT NULL,
  pipeline_sha256 TEXT NOT NULL,
  -- JSON: the configuration the run was created with, and the input's header.
  settings        TEXT NOT NULL,
  columns         TEXT NOT NULL,
  -- reading: rows are still being taken in; open: rows may be worked on; finished: every row is settled.
  state           TEXT NOT NULL CHECK (state IN ('reading', 'open', 'finished')),
  row_count       INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL,
  finished_at     INTEGER
) STRICT;
CREATE INDEX runs_by_input ON runs (input_sha256, pipeline_sha256, created_at);

-- One row of the input and its checkpoint.
CREATE TABLE rows (
  run_id           TEXT NOT NULL REFERENCES runs (id),
  row              INTEGER NOT NULL,
  line             INTEGER NOT NULL,
  -- JSON: the cells as written, and the fields read from them.
  input_values     TEXT NOT NULL,
  fields           TEXT NOT NULL,
  outcome          TEXT NOT NULL CHECK (outcome IN ('pending', 'complete', 'no_match', 'needs_review', 'invalid', 'failed')),
  -- Why a pending row does not move: waiting (for a report) or parked (for an allowance, a budget, a scope).
  hold             TEXT CHECK (hold IN ('waiting', 'parked')),
  hold_reason      TEXT,
  next_at          INTEGER,
  stage            TEXT,
  -- JSON: status by stage.
  stages           TEXT NOT NULL DEFAULT '{}',
  match_grade      TEXT,
  matched_on       TEXT,
  v1_company_id    TEXT,
  v2_company_id    TEXT,
  credit_source_id TEXT,
  credit_report_id TEXT,
  units_charged    INTEGER NOT NULL DEFAULT 0,
  error_code       TEXT,
  error_message    TEXT,
  updated_at       INTEGER,
  PRIMARY KEY (run_id, row)
) STRICT, WITHOUT ROWID;
CREATE INDEX rows_waiting ON rows (run_id, next_at) WHERE hold = 'waiting';
CREATE INDEX rows_by_outcome ON rows (run_id, outcome);

-- Every attempt. A row without settled_at is an intent: it was about to be sent, and what became of it is not known.
CREATE TABLE calls (
  id               INTEGER PRIMARY KEY,
  token            TEXT NOT NULL,
  environment_id   INTEGER NOT NULL REFERENCES environments (id),
  run_id           TEXT,
  row              INTEGER,
  stage            TEXT,
  operation        TEXT NOT NULL,
  request_key      TEXT NOT NULL,
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
  raw_sha256       TEXT
) STRICT;
CREATE INDEX calls_open ON calls (id) WHERE settled_at IS NULL;
CREATE INDEX calls_in_doubt ON calls (environment_id, request_key) WHERE charge = 'unknown';
CREATE INDEX calls_by_row ON calls (run_id, row);

-- Bodies by their SHA-256: the same bytes are kept once.
CREATE TABLE bodies (
  sha256    TEXT PRIMARY KEY,
  encoding  TEXT NOT NULL CHECK (encoding IN ('identity', 'brotli')),
  size      INTEGER NOT NULL,
  bytes     BLOB NOT NULL,
  stored_at INTEGER NOT NULL
) STRICT;

-- What we own: the newest answer to each request.
CREATE TABLE answers (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  request_key    TEXT NOT NULL,
  operation      TEXT NOT NULL,
  params         TEXT NOT NULL,
  raw_sha256     TEXT NOT NULL,
  call_id        INTEGER NOT NULL,
  fetched_at     INTEGER NOT NULL,
  PRIMARY KEY (environment_id, request_key)
) STRICT, WITHOUT ROWID;

-- What the provider last said about its allowance, and the anchor for telling what lost calls cost.
CREATE TABLE allowances (
  environment_id  INTEGER PRIMARY KEY REFERENCES environments (id),
  observed_at     INTEGER NOT NULL,
  remaining_units INTEGER,
  daily_limit     INTEGER,
  daily_remaining INTEGER,
  reset_at        INTEGER,
  raw             TEXT,
  spent_until     INTEGER,
  anchor_call_id  INTEGER,
  anchor_units    INTEGER,
  drift_units     INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE errors (
  id         INTEGER PRIMARY KEY,
  run_id     TEXT NOT NULL,
  row        INTEGER,
  stage      TEXT,
  class      TEXT NOT NULL,
  code       TEXT NOT NULL,
  message    TEXT NOT NULL,
  request_id TEXT,
  attempts   INTEGER NOT NULL,
  at         INTEGER NOT NULL
) STRICT;
CREATE INDEX errors_by_run ON errors (run_id, row);

CREATE TABLE candidates (
  run_id              TEXT NOT NULL,
  row                 INTEGER NOT NULL,
  api                 TEXT NOT NULL,
  position            INTEGER NOT NULL,
  id                  TEXT NOT NULL,
  name                TEXT,
  registration_number TEXT,
  vat_number          TEXT,
  country_code        TEXT,
  state               TEXT,
  match_grade         TEXT NOT NULL,
  decision            TEXT NOT NULL,
  evidence            TEXT NOT NULL,
  PRIMARY KEY (run_id, row, api, position)
) STRICT, WITHOUT ROWID;

-- What people decided about a question. It is remembered for the entity, not for the row.
CREATE TABLE decisions (
  id             INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  entity_key     TEXT NOT NULL,
  decision       TEXT NOT NULL CHECK (decision IN ('confirm', 'none_of_these', 'not_sure')),
  candidate_id   TEXT,
  decided_by     TEXT NOT NULL,
  decided_at     INTEGER NOT NULL,
  note           TEXT,
  withdrawn_at   INTEGER
) STRICT;
CREATE INDEX decisions_by_entity ON decisions (environment_id, entity_key) WHERE withdrawn_at IS NULL;
