-- Written by `npm run schema` from the migrations. Do not edit: add a migration.
CREATE TABLE absences (
  member_id INTEGER NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  -- Empty: the list itself.
  space     TEXT NOT NULL DEFAULT '',
  left_at   INTEGER NOT NULL,
  back_at   INTEGER NOT NULL,
  PRIMARY KEY (member_id, space, left_at)
) STRICT, WITHOUT ROWID;
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
, available INTEGER) STRICT;
CREATE TABLE "answers" (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  request_key    BLOB NOT NULL,
  call_id        INTEGER NOT NULL,
  PRIMARY KEY (environment_id, request_key)
) STRICT, WITHOUT ROWID;
CREATE TABLE asked_for (
  space          TEXT NOT NULL,
  id             TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  stage          TEXT NOT NULL,
  request_key    BLOB NOT NULL,
  -- The order in which the stage asked.
  position       INTEGER NOT NULL,
  PRIMARY KEY (space, id, environment_id, stage, request_key)
) STRICT, WITHOUT ROWID;
CREATE TABLE "bodies" (
  sha256    BLOB PRIMARY KEY,
  encoding  TEXT NOT NULL CHECK (encoding IN ('identity', 'brotli')),
  size      INTEGER NOT NULL,
  bytes     BLOB NOT NULL,
  stored_at INTEGER NOT NULL
) STRICT;
CREATE TABLE "calls" (
  id               INTEGER PRIMARY KEY,
  start_id         INTEGER,
  environment_id   INTEGER NOT NULL REFERENCES environments (id),
  run_id           TEXT,
  row              INTEGER,
  stage            TEXT,
  operation        TEXT NOT NULL,
  meter            TEXT NOT NULL CHECK (meter IN ('unit', 'report', 'not_told', 'free')),
  subject_space    TEXT,
  subject_id       TEXT,
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
  -- It may have been charged, and its answer is not there.
  in_doubt         INTEGER NOT NULL DEFAULT 0,
  -- How an unknown charge was settled later, in words.
  reconciled       TEXT,
  remaining_units  INTEGER,
  raw_sha256       BLOB,
  -- JSON: what was asked, where the answer is owned.
  params           TEXT
, exact INTEGER NOT NULL DEFAULT 0, replaces INTEGER, compared INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE candidates (
  run_id              TEXT NOT NULL,
  row                 INTEGER NOT NULL,
  space                 TEXT NOT NULL,
  position            INTEGER NOT NULL,
  id                  TEXT NOT NULL,
  name                TEXT,
  registration_number TEXT,
  vat_number          TEXT,
  country_code        TEXT,
  state               TEXT,
  match_grade         TEXT NOT NULL,
  decision            TEXT NOT NULL,
  evidence            TEXT NOT NULL, jurisdiction TEXT, extra TEXT,
  PRIMARY KEY (run_id, row, space, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE changes (
  -- Never used twice: whoever has read up to one asks for those after it.
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The new answer.
  call_id        INTEGER NOT NULL UNIQUE,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  subject_space  TEXT NOT NULL,
  subject_id     TEXT NOT NULL,
  run_id         TEXT,
  changed_at     INTEGER NOT NULL,
  noted_at       INTEGER NOT NULL,
  old_sha256     BLOB NOT NULL,
  new_sha256     BLOB NOT NULL,
  -- JSON: the items that came, went or differ.
  items          TEXT NOT NULL
) STRICT;
CREATE TABLE clock_ahead (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  -- By the clock that they lay ahead of.
  found_at     INTEGER NOT NULL,
  latest_at    INTEGER NOT NULL,
  answers      INTEGER NOT NULL,
  -- The last of the calls that are dated so: a later one is found anew.
  last_call_id INTEGER NOT NULL
) STRICT;
CREATE TABLE closures (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  operation      TEXT,
  reason         TEXT NOT NULL CHECK (reason IN ('allowance', 'scope')),
  until          INTEGER,
  message        TEXT NOT NULL,
  closed_at      INTEGER NOT NULL,
  last_start_id  INTEGER NOT NULL
) STRICT;
CREATE TABLE contact_counts (
  environment_id INTEGER PRIMARY KEY REFERENCES environments (id),
  date_from      TEXT NOT NULL,
  date_to        TEXT NOT NULL,
  email_count    INTEGER,
  phone_count    INTEGER,
  extra          TEXT,
  observed_at    INTEGER NOT NULL
) STRICT;
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
, space TEXT NOT NULL DEFAULT 'v1', shown TEXT NOT NULL DEFAULT '[]', summary TEXT NOT NULL DEFAULT '', withdrawn_by TEXT, stage TEXT NOT NULL DEFAULT '', second_by TEXT, batch TEXT) STRICT;
CREATE TABLE environments (
  id   INTEGER PRIMARY KEY,
  api  TEXT NOT NULL,
  name TEXT NOT NULL,
  UNIQUE (api, name)
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
CREATE TABLE held_decisions (
  id             INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  entity_key     TEXT NOT NULL,
  space          TEXT NOT NULL,
  stage          TEXT NOT NULL,
  decision       TEXT NOT NULL CHECK (decision IN ('confirm', 'none_of_these')),
  candidate_id   TEXT,
  shown          TEXT NOT NULL,
  summary        TEXT NOT NULL,
  decided_by     TEXT NOT NULL,
  decided_at     INTEGER NOT NULL,
  note           TEXT,
  batch          TEXT,
  withdrawn_at   INTEGER,
  withdrawn_by   TEXT,
  -- The decision that settled the question.
  settled_by     INTEGER
) STRICT;
CREATE TABLE member_companies (
  member_id      INTEGER NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  space          TEXT NOT NULL,
  id             TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  -- What was answered after this time.
  known_since    INTEGER NOT NULL,
  -- The line says something else, or a person has said that it is not the company; null: it is.
  gone_at        INTEGER,
  PRIMARY KEY (member_id, space)
) STRICT, WITHOUT ROWID;
CREATE TABLE members (
  id           INTEGER PRIMARY KEY,
  portfolio_id INTEGER NOT NULL REFERENCES portfolios (id),
  -- The analyst's own ID, else the company, else the position.
  known_by     TEXT NOT NULL,
  -- What identifies the company, and which of the lines that say the same; null where nothing does.
  company      TEXT,
  -- Digests: of what is searched for, and of all cells.
  says         BLOB NOT NULL,
  cells        BLOB NOT NULL,
  -- Where it stands in the newest file.
  row          INTEGER NOT NULL,
  line         INTEGER NOT NULL,
  first_seen   INTEGER NOT NULL,
  -- Null while it is in the list.
  last_seen    INTEGER,
  left_at      INTEGER,
  -- The provider's watch says that it has changed: when that was heard.
  changed_at   INTEGER,
  -- The row in which it came to rest last, or is on its way for the first time.
  run_id       TEXT NOT NULL,
  run_row      INTEGER NOT NULL
) STRICT;
CREATE TABLE permission_use (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  permission     TEXT NOT NULL,
  metric         TEXT NOT NULL,
  name           TEXT NOT NULL,
  used           INTEGER,
  total          INTEGER,
  used_at_start  INTEGER,
  observed_at    INTEGER NOT NULL, permission_name TEXT, operations TEXT, last_call_before INTEGER, calls_answered INTEGER, calls_failed INTEGER, extra TEXT,
  PRIMARY KEY (environment_id, permission, metric)
) STRICT, WITHOUT ROWID;
CREATE TABLE portfolios (
  id            INTEGER PRIMARY KEY,
  name          TEXT NOT NULL,
  providers     TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  -- The newest file that was taken in: what it was read as, its path, its header, and when.
  input_key     TEXT,
  input_path    TEXT NOT NULL,
  columns       TEXT NOT NULL,
  seen_at       INTEGER NOT NULL, last_success_at INTEGER, refused_at INTEGER, refused_code TEXT, agreed_columns TEXT, second_person INTEGER NOT NULL DEFAULT 0 CHECK (second_person IN (0, 1)),
  UNIQUE (name, providers)
) STRICT;
CREATE TABLE purges (
  request  BLOB PRIMARY KEY,
  -- JSON: counts and runs.
  report   TEXT NOT NULL,
  begun_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE "questions" (
  run_id         TEXT NOT NULL,
  row            INTEGER NOT NULL,
  space          TEXT NOT NULL,
  -- The stage whose answer is in question; empty: which company is meant.
  stage          TEXT NOT NULL DEFAULT '',
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  entity_key     TEXT NOT NULL,
  -- The only candidate that can be confirmed, where the question is about one.
  candidate_id   TEXT,
  code           TEXT NOT NULL,
  message        TEXT NOT NULL,
  answered       INTEGER NOT NULL CHECK (answered IN (0, 1)),
  asked_at       INTEGER NOT NULL, beside INTEGER NOT NULL DEFAULT 0 CHECK (beside IN (0, 1)), second_person INTEGER NOT NULL DEFAULT 0 CHECK (second_person IN (0, 1)),
  PRIMARY KEY (run_id, row, space, stage)
) STRICT, WITHOUT ROWID;
CREATE TABLE row_ids (
  run_id     TEXT NOT NULL,
  row        INTEGER NOT NULL,
  space      TEXT NOT NULL,
  id         TEXT NOT NULL,
  grade      TEXT,
  matched_on TEXT,
  PRIMARY KEY (run_id, row, space)
) STRICT, WITHOUT ROWID;
CREATE TABLE "rows" (
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
  units_charged    INTEGER NOT NULL DEFAULT 0,
  error_code       TEXT,
  error_message    TEXT,
  updated_at       INTEGER, look_until INTEGER, member_id INTEGER, fetched TEXT NOT NULL DEFAULT '{}', rank INTEGER NOT NULL DEFAULT 0, not_before INTEGER, input_kinds TEXT,
  PRIMARY KEY (run_id, row)
) STRICT, WITHOUT ROWID;
CREATE TABLE run_environments (
  run_id         TEXT NOT NULL,
  api            TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  PRIMARY KEY (run_id, api)
) STRICT, WITHOUT ROWID;
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
, portfolio_id INTEGER, superseded_by TEXT, put_away INTEGER NOT NULL DEFAULT 0, units_moved INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE starts (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id        TEXT,
  begun_at      INTEGER NOT NULL,
  lease_until   INTEGER NOT NULL,
  ended_at      INTEGER,
  units_spent   INTEGER NOT NULL DEFAULT 0,
  reports_spent INTEGER NOT NULL DEFAULT 0
, outages TEXT, ending TEXT, given TEXT, died INTEGER NOT NULL DEFAULT 0, purse_id INTEGER, worker TEXT) STRICT;
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
CREATE TABLE verdicts (
  space TEXT NOT NULL,
  id TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  request_key BLOB NOT NULL,
  raw_sha256 BLOB NOT NULL,
  entity_key TEXT NOT NULL,
  PRIMARY KEY (space, id, environment_id, request_key, raw_sha256)
) STRICT, WITHOUT ROWID;
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
  hinted_at      INTEGER, failed_at INTEGER,
  UNIQUE (environment_id, company_id)
) STRICT;
CREATE INDEX asked_for_by_request ON asked_for (environment_id, request_key);
CREATE INDEX calls_by_row ON calls (run_id, row);
CREATE INDEX calls_by_subject ON calls (subject_space, subject_id) WHERE params IS NOT NULL AND subject_id IS NOT NULL;
CREATE INDEX calls_exact ON calls (environment_id, id) WHERE exact = 1;
CREATE INDEX calls_in_doubt ON calls (environment_id, request_key) WHERE in_doubt > 0;
CREATE INDEX calls_in_flight ON calls (environment_id, request_key, meter, start_id) WHERE settled_at IS NULL;
CREATE INDEX calls_looks ON calls (raw_sha256) WHERE operation = 'watchHistory' AND charge = 'charged';
CREATE INDEX calls_replacing ON calls (compared, id) WHERE replaces IS NOT NULL;
CREATE INDEX calls_reports_in_doubt ON calls (environment_id, subject_space, subject_id) WHERE in_doubt > 0 AND meter = 'report';
CREATE INDEX calls_unknown ON calls (environment_id) WHERE charge = 'unknown';
CREATE INDEX changes_by_subject ON changes (subject_space, subject_id);
CREATE INDEX changes_by_time ON changes (changed_at, call_id);
CREATE INDEX closures_by_environment ON closures (environment_id, last_start_id);
CREATE INDEX decisions_by_batch ON decisions (batch) WHERE batch IS NOT NULL;
CREATE INDEX decisions_by_entity ON decisions (environment_id, entity_key) WHERE withdrawn_at IS NULL;
CREATE INDEX errors_by_run ON errors (run_id, row);
CREATE INDEX held_decisions_by_entity ON held_decisions (environment_id, entity_key) WHERE withdrawn_at IS NULL AND settled_by IS NULL;
CREATE INDEX held_decisions_by_settlement ON held_decisions (settled_by) WHERE settled_by IS NOT NULL;
CREATE INDEX member_companies_by_id ON member_companies (space, id);
CREATE INDEX members_by_company ON members (portfolio_id, company);
CREATE UNIQUE INDEX members_by_key ON members (portfolio_id, known_by);
CREATE INDEX members_by_place ON members (run_id, run_row);
CREATE INDEX members_by_row ON members (portfolio_id, row) WHERE left_at IS NULL;
CREATE INDEX questions_beside ON questions (run_id, row) WHERE beside = 1;
CREATE INDEX questions_by_entity ON questions (environment_id, entity_key);
CREATE INDEX row_ids_by_id ON row_ids (space, id);
CREATE INDEX rows_on_their_way ON rows (member_id) WHERE outcome = 'pending' AND member_id IS NOT NULL;
CREATE INDEX rows_waiting ON rows (run_id, next_at) WHERE hold = 'waiting';
CREATE INDEX runs_by_portfolio ON runs (portfolio_id, created_at);
CREATE INDEX starts_by_purse ON starts (purse_id) WHERE purse_id IS NOT NULL;
CREATE INDEX verdicts_by_request ON verdicts (environment_id, request_key);
