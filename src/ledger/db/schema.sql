-- The tables of a ledger, for both engines. SQLite reads this file as it is. PostgreSQL gets it with its own types
-- (`postgresSchema`), then postgres/migrations/001-ledger.sql. A change needs a numbered step in both `migrations` folders.

-- Providers. A key is not part of it, so a new key finds what was bought with the old one.
CREATE TABLE IF NOT EXISTS environments (
  id   INTEGER PRIMARY KEY,
  api  TEXT NOT NULL,
  name TEXT NOT NULL,
  UNIQUE (api, name)
) STRICT;

CREATE TABLE IF NOT EXISTS runs (
  id              TEXT PRIMARY KEY,
  input_path      TEXT NOT NULL,
  input_sha256    TEXT NOT NULL,
  pipeline_name   TEXT NOT NULL,
  pipeline_sha256 TEXT NOT NULL,
  -- JSON: the configuration the run was created with, and the input's header.
  settings        TEXT NOT NULL,
  columns         TEXT NOT NULL,
  -- reading: rows are being read. open: rows can be processed. finished: every row has an outcome.
  state           TEXT NOT NULL CHECK (state IN ('reading', 'open', 'finished')),
  row_count       INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL,
  finished_at     INTEGER,
  portfolio_id    INTEGER,
  -- The run that continues with its rows.
  superseded_by   TEXT,
  -- 1: no longer listed, but members still use its rows.
  put_away        INTEGER NOT NULL DEFAULT 0,
  -- Units of rows that continued in later runs.
  units_moved     INTEGER NOT NULL DEFAULT 0,
  -- With several workers: the attempt whose limits they share. Null: no worker takes rows of this run.
  led_by          INTEGER,
  -- With several workers: no new row begins before this time. Null: rows can begin.
  resume_at       INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS runs_by_portfolio ON runs (portfolio_id, created_at);

-- The providers of a run.
CREATE TABLE IF NOT EXISTS run_environments (
  run_id         TEXT NOT NULL,
  api            TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  PRIMARY KEY (run_id, api)
) STRICT, WITHOUT ROWID;

-- A row of the input and its checkpoint.
CREATE TABLE IF NOT EXISTS rows (
  run_id        TEXT NOT NULL REFERENCES runs (id),
  row           INTEGER NOT NULL,
  line          INTEGER NOT NULL,
  -- JSON: the cells as written, and the fields read from them.
  input_values  TEXT NOT NULL,
  fields        TEXT NOT NULL,
  outcome       TEXT NOT NULL
    CHECK (outcome IN ('pending', 'complete', 'no_match', 'needs_review', 'invalid', 'failed')),
  -- Why a pending row is not processed: waiting for a report, or parked by an allowance, a limit or a permission.
  hold          TEXT CHECK (hold IN ('waiting', 'parked')),
  hold_reason   TEXT,
  next_at       INTEGER,
  stage         TEXT,
  -- JSON: status by stage.
  stages        TEXT NOT NULL DEFAULT '{}',
  match_grade   TEXT,
  matched_on    TEXT,
  units_charged INTEGER NOT NULL DEFAULT 0,
  error_code    TEXT,
  error_message TEXT,
  updated_at    INTEGER,
  -- Until when a lost report is searched for in the history.
  look_until    INTEGER,
  member_id     INTEGER,
  -- JSON: when the answer of each stage was fetched.
  fetched       TEXT NOT NULL DEFAULT '{}',
  -- The order in which rows begin.
  rank          INTEGER NOT NULL DEFAULT 0,
  -- Older answers are not used.
  not_before    INTEGER,
  -- The kind of each cell in a workbook, one letter each: n number, d date, - other. Trailing letters may be missing.
  -- Null: text.
  input_kinds   TEXT,
  -- The attempt that processes it, written only if several workers share the ledger. 0: the present attempt leaves it out.
  claimed_by    INTEGER,
  PRIMARY KEY (run_id, row)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS rows_claimed ON rows (run_id, claimed_by) WHERE claimed_by IS NOT NULL;
-- SQLite alone: without an index it sorts all rows of a run to count them.
CREATE INDEX IF NOT EXISTS rows_counted ON rows (run_id, outcome, hold, hold_reason, error_code, stage, updated_at, member_id, next_at, look_until);
-- SQLite alone: to find thousands of rows that wait for a person, it would read them whole.
CREATE INDEX IF NOT EXISTS rows_asking ON rows (run_id, row, member_id) WHERE outcome = 'needs_review';
CREATE INDEX IF NOT EXISTS rows_on_their_way ON rows (member_id) WHERE outcome = 'pending' AND member_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS rows_waiting ON rows (run_id, next_at) WHERE hold = 'waiting';

-- Rows by state, for what is counted again and again. Only these triggers write it. PostgreSQL has a view of this name:
-- its workers would wait for each other's counts.
-- SQLite alone: an empty hold and reason are null in a row.
CREATE TABLE IF NOT EXISTS row_counts (run_id TEXT NOT NULL, outcome TEXT NOT NULL, hold TEXT NOT NULL, hold_reason TEXT NOT NULL, stages TEXT NOT NULL, rows INTEGER NOT NULL, units INTEGER NOT NULL, purged INTEGER NOT NULL, PRIMARY KEY (run_id, outcome, hold, hold_reason, stages)) STRICT, WITHOUT ROWID;
-- SQLite alone: a row is new.
CREATE TRIGGER IF NOT EXISTS row_added AFTER INSERT ON rows BEGIN INSERT INTO row_counts VALUES (new.run_id, new.outcome, coalesce(new.hold, ''), coalesce(new.hold_reason, ''), new.stages, 1, new.units_charged, new.error_code IS 'PURGED') ON CONFLICT DO UPDATE SET rows = rows + 1, units = units + excluded.units, purged = purged + excluded.purged; END;
-- SQLite alone: a row is gone.
CREATE TRIGGER IF NOT EXISTS row_removed AFTER DELETE ON rows BEGIN UPDATE row_counts SET rows = rows - 1, units = units - old.units_charged, purged = purged - (old.error_code IS 'PURGED') WHERE run_id = old.run_id AND outcome = old.outcome AND hold = coalesce(old.hold, '') AND hold_reason = coalesce(old.hold_reason, '') AND stages = old.stages; DELETE FROM row_counts WHERE run_id = old.run_id AND outcome = old.outcome AND hold = coalesce(old.hold, '') AND hold_reason = coalesce(old.hold_reason, '') AND stages = old.stages AND rows = 0; END;
-- SQLite alone: a row has changed.
CREATE TRIGGER IF NOT EXISTS row_changed AFTER UPDATE OF run_id, outcome, hold, hold_reason, stages, error_code ON rows WHEN NOT (new.run_id = old.run_id AND new.outcome = old.outcome AND new.hold IS old.hold AND new.hold_reason IS old.hold_reason AND new.stages = old.stages AND (new.error_code IS 'PURGED') = (old.error_code IS 'PURGED')) BEGIN UPDATE row_counts SET rows = rows - 1, units = units - old.units_charged, purged = purged - (old.error_code IS 'PURGED') WHERE run_id = old.run_id AND outcome = old.outcome AND hold = coalesce(old.hold, '') AND hold_reason = coalesce(old.hold_reason, '') AND stages = old.stages; DELETE FROM row_counts WHERE run_id = old.run_id AND outcome = old.outcome AND hold = coalesce(old.hold, '') AND hold_reason = coalesce(old.hold_reason, '') AND stages = old.stages AND rows = 0; INSERT INTO row_counts VALUES (new.run_id, new.outcome, coalesce(new.hold, ''), coalesce(new.hold_reason, ''), new.stages, 1, new.units_charged, new.error_code IS 'PURGED') ON CONFLICT DO UPDATE SET rows = rows + 1, units = units + excluded.units, purged = purged + excluded.purged; END;
-- SQLite alone: a row has cost something, which is more frequent.
CREATE TRIGGER IF NOT EXISTS row_charged AFTER UPDATE OF units_charged ON rows WHEN new.run_id = old.run_id AND new.outcome = old.outcome AND new.hold IS old.hold AND new.hold_reason IS old.hold_reason AND new.stages = old.stages AND (new.error_code IS 'PURGED') = (old.error_code IS 'PURGED') BEGIN UPDATE row_counts SET units = units + new.units_charged - old.units_charged WHERE run_id = old.run_id AND outcome = old.outcome AND hold = coalesce(old.hold, '') AND hold_reason = coalesce(old.hold_reason, '') AND stages = old.stages; END;

-- The IDs of a row, by ID space.
CREATE TABLE IF NOT EXISTS row_ids (
  run_id     TEXT NOT NULL,
  row        INTEGER NOT NULL,
  space      TEXT NOT NULL,
  id         TEXT NOT NULL,
  grade      TEXT,
  matched_on TEXT,
  PRIMARY KEY (run_id, row, space)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS row_ids_by_id ON row_ids (space, id);

CREATE TABLE IF NOT EXISTS candidates (
  run_id              TEXT NOT NULL,
  row                 INTEGER NOT NULL,
  space               TEXT NOT NULL,
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
  jurisdiction        TEXT,
  -- JSON: fields of the search result without a column.
  extra               TEXT,
  PRIMARY KEY (run_id, row, space, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS errors (
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
CREATE INDEX IF NOT EXISTS errors_by_run ON errors (run_id, row);

-- Attempts: a process that works on a run. Its lease covers its open calls, and its number fences what it settles. Its
-- counters are compared with its limits.
CREATE TABLE IF NOT EXISTS starts (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id        TEXT,
  begun_at      INTEGER NOT NULL,
  lease_until   INTEGER NOT NULL,
  ended_at      INTEGER,
  units_spent   INTEGER NOT NULL DEFAULT 0,
  reports_spent INTEGER NOT NULL DEFAULT 0,
  -- JSON: outages it waits for, and how it ended. Other processes show them.
  outages       TEXT,
  ending        TEXT,
  -- JSON: its limits, for the next attempt on the run.
  given         TEXT,
  -- 1: another process found it dead.
  died          INTEGER NOT NULL DEFAULT 0,
  -- The attempt whose limits it shares. Null: its own.
  purse_id      INTEGER,
  -- Machine and process number, for people.
  worker        TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS starts_by_purse ON starts (purse_id) WHERE purse_id IS NOT NULL;

-- Every call. Without settled_at it is an intent: it may have been sent, and its result is unknown.
CREATE TABLE IF NOT EXISTS calls (
  id              INTEGER PRIMARY KEY,
  start_id        INTEGER,
  environment_id  INTEGER NOT NULL REFERENCES environments (id),
  run_id          TEXT,
  row             INTEGER,
  stage           TEXT,
  operation       TEXT NOT NULL,
  meter           TEXT NOT NULL CHECK (meter IN ('unit', 'report', 'not_told', 'free')),
  subject_space   TEXT,
  subject_id      TEXT,
  request_key     BLOB NOT NULL,
  attempt         INTEGER NOT NULL,
  started_at      INTEGER NOT NULL,
  settled_at      INTEGER,
  duration_ms     INTEGER,
  http_status     INTEGER,
  error_class     TEXT,
  error_code      TEXT,
  request_id      TEXT,
  charge          TEXT CHECK (charge IN ('charged', 'free', 'unknown', 'owned')),
  units_charged   INTEGER,
  -- Possibly charged, without an answer. 1: the request must not be repeated by itself. 2: a person allowed it.
  in_doubt        INTEGER NOT NULL DEFAULT 0,
  -- How an unknown charge was settled later.
  reconciled      TEXT,
  remaining_units INTEGER,
  raw_sha256      BLOB,
  -- JSON: the parameters, if the answer is stored.
  params          TEXT,
  -- 1: no other metered call was in flight, so remaining_units is exact.
  exact           INTEGER NOT NULL DEFAULT 0,
  -- The call whose answer it replaced.
  replaces        INTEGER,
  -- The version of the readers that compared the answer with the replaced one. 0: not compared yet.
  compared        INTEGER NOT NULL DEFAULT 0,
  -- Where the row that waits for this lost call is, if a later run took it over. run_id is the run that paid.
  waits_run       TEXT,
  waits_row       INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS calls_by_row ON calls (run_id, row);
CREATE INDEX IF NOT EXISTS calls_by_subject ON calls (subject_space, subject_id) WHERE params IS NOT NULL AND subject_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS calls_exact ON calls (environment_id, id) WHERE exact = 1;
CREATE INDEX IF NOT EXISTS calls_in_doubt ON calls (environment_id, request_key) WHERE in_doubt > 0;
CREATE INDEX IF NOT EXISTS calls_in_flight ON calls (environment_id, request_key, meter, start_id) WHERE settled_at IS NULL;
CREATE INDEX IF NOT EXISTS calls_looks ON calls (raw_sha256) WHERE operation = 'watchHistory' AND charge = 'charged';
CREATE INDEX IF NOT EXISTS calls_replacing ON calls (compared, id) WHERE replaces IS NOT NULL;
-- SQLite alone: PostgreSQL keeps no counts of calls.
CREATE INDEX IF NOT EXISTS calls_reconciled ON calls (environment_id) WHERE reconciled IS NOT NULL;
-- A lost report is found by its company, whatever parameters it had.
CREATE INDEX IF NOT EXISTS calls_reports_in_doubt ON calls (environment_id, subject_space, subject_id)
  WHERE in_doubt > 0 AND meter = 'report';
CREATE INDEX IF NOT EXISTS calls_unknown ON calls (environment_id) WHERE charge = 'unknown';

-- Totals by day of free calls whose answers are no longer needed.
CREATE TABLE IF NOT EXISTS summed_calls (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  -- In UTC, as in `usage`.
  day            TEXT NOT NULL,
  operation      TEXT NOT NULL,
  -- Empty: a direct call.
  run_id         TEXT NOT NULL,
  -- Sent, and answered from stored answers.
  calls          INTEGER NOT NULL,
  owned          INTEGER NOT NULL,
  PRIMARY KEY (environment_id, day, operation, run_id)
) STRICT, WITHOUT ROWID;

-- Answers by their SHA-256: the same bytes are stored once.
CREATE TABLE IF NOT EXISTS bodies (
  sha256    BLOB PRIMARY KEY,
  encoding  TEXT NOT NULL CHECK (encoding IN ('identity', 'brotli')),
  size      INTEGER NOT NULL,
  bytes     BLOB NOT NULL,
  stored_at INTEGER NOT NULL
) STRICT;

-- Stored answers: the call with the newest answer to each request.
CREATE TABLE IF NOT EXISTS answers (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  request_key    BLOB NOT NULL,
  call_id        INTEGER NOT NULL,
  PRIMARY KEY (environment_id, request_key)
) STRICT, WITHOUT ROWID;

-- The companies of answers to requests without a company ID. Several companies can share one.
CREATE TABLE IF NOT EXISTS asked_for (
  space          TEXT NOT NULL,
  id             TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  stage          TEXT NOT NULL,
  request_key    BLOB NOT NULL,
  -- The order of the stage's requests.
  position       INTEGER NOT NULL,
  PRIMARY KEY (space, id, environment_id, stage, request_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS asked_for_by_request ON asked_for (environment_id, request_key);

-- The result of comparing an answer with the confirmed company. Empty: it is the company's. Otherwise the question for a
-- person. An answer is shown only if it is the company's, or a person accepted it.
CREATE TABLE IF NOT EXISTS verdicts (
  space          TEXT NOT NULL,
  id             TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  request_key    BLOB NOT NULL,
  raw_sha256     BLOB NOT NULL,
  entity_key     TEXT NOT NULL,
  PRIMARY KEY (space, id, environment_id, request_key, raw_sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS verdicts_by_request ON verdicts (environment_id, request_key);

-- The provider's last reported allowance, and the anchor for computing what lost calls cost.
CREATE TABLE IF NOT EXISTS allowances (
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
  drift_units     INTEGER NOT NULL DEFAULT 0,
  available       INTEGER
) STRICT;

-- Operations that the provider refuses, or a whole API (operation is null). Later attempts try again.
CREATE TABLE IF NOT EXISTS closures (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  operation      TEXT,
  reason         TEXT NOT NULL CHECK (reason IN ('allowance', 'scope')),
  until          INTEGER,
  message        TEXT NOT NULL,
  closed_at      INTEGER NOT NULL,
  last_start_id  INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS closures_by_environment ON closures (environment_id, last_start_id);

-- The provider's v2 counters: the last report, and the one at the start of the last run.
CREATE TABLE IF NOT EXISTS permission_use (
  environment_id   INTEGER NOT NULL REFERENCES environments (id),
  permission       TEXT NOT NULL,
  metric           TEXT NOT NULL,
  name             TEXT NOT NULL,
  used             INTEGER,
  total            INTEGER,
  used_at_start    INTEGER,
  observed_at      INTEGER NOT NULL,
  -- Its name, the operations that use it, the last call before that start, and our calls since, at the last report.
  permission_name  TEXT,
  operations       TEXT,
  last_call_before INTEGER,
  calls_answered   INTEGER,
  calls_failed     INTEGER,
  extra            TEXT,
  PRIMARY KEY (environment_id, permission, metric)
) STRICT, WITHOUT ROWID;

-- Revealed contacts in a period, as v2 last reported. Its time zone is unknown, so the dates are text.
CREATE TABLE IF NOT EXISTS contact_counts (
  environment_id INTEGER PRIMARY KEY REFERENCES environments (id),
  date_from      TEXT NOT NULL,
  date_to        TEXT NOT NULL,
  email_count    INTEGER,
  phone_count    INTEGER,
  extra          TEXT,
  observed_at    INTEGER NOT NULL
) STRICT;

-- Questions for people about an ID space: which company is meant, or whether an answer is about it (stage). `answered`
-- is 0 if the row ended with the question, 1 if a stored decision answered it. So a withdrawn decision finds its rows.
CREATE TABLE IF NOT EXISTS questions (
  run_id         TEXT NOT NULL,
  row            INTEGER NOT NULL,
  space          TEXT NOT NULL,
  -- The stage of the answer in question. Empty: which company is meant.
  stage          TEXT NOT NULL DEFAULT '',
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  entity_key     TEXT NOT NULL,
  -- The only candidate that can be confirmed, if there is only one.
  candidate_id   TEXT,
  code           TEXT NOT NULL,
  message        TEXT NOT NULL,
  answered       INTEGER NOT NULL CHECK (answered IN (0, 1)),
  asked_at       INTEGER NOT NULL,
  -- 1: asked by another pipeline than the one of its row. It waits until that pipeline runs again.
  beside         INTEGER NOT NULL DEFAULT 0 CHECK (beside IN (0, 1)),
  -- 1: the run needs a second person for a confirmation.
  second_person  INTEGER NOT NULL DEFAULT 0 CHECK (second_person IN (0, 1)),
  PRIMARY KEY (run_id, row, space, stage)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS questions_beside ON questions (run_id, row) WHERE beside = 1;
CREATE INDEX IF NOT EXISTS questions_by_entity ON questions (environment_id, entity_key);
-- SQLite alone: in the order in which a page lists them.
CREATE INDEX IF NOT EXISTS questions_unanswered ON questions (run_id, row, asked_at, space, stage, beside) WHERE answered = 0;

-- Decisions of people. They apply to the company, not only to the row.
CREATE TABLE IF NOT EXISTS decisions (
  id             INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  entity_key     TEXT NOT NULL,
  decision       TEXT NOT NULL CHECK (decision IN ('confirm', 'none_of_these', 'not_sure')),
  candidate_id   TEXT,
  decided_by     TEXT NOT NULL,
  decided_at     INTEGER NOT NULL,
  note           TEXT,
  withdrawn_at   INTEGER,
  space          TEXT NOT NULL DEFAULT 'v1',
  -- JSON: the candidates shown. `none_of_these` says nothing about others.
  shown          TEXT NOT NULL DEFAULT '[]',
  -- The decision in words.
  summary        TEXT NOT NULL DEFAULT '',
  withdrawn_by   TEXT,
  stage          TEXT NOT NULL DEFAULT '',
  -- The second person, and the rule that made several decisions at once.
  second_by      TEXT,
  batch          TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS decisions_by_batch ON decisions (batch) WHERE batch IS NOT NULL;
CREATE INDEX IF NOT EXISTS decisions_by_entity ON decisions (environment_id, entity_key) WHERE withdrawn_at IS NULL;

-- Votes of one person where two are needed. They are separate from decisions, so no query takes one for a decision. Both
-- tables share their numbers.
CREATE TABLE IF NOT EXISTS held_decisions (
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
CREATE INDEX IF NOT EXISTS held_decisions_by_entity ON held_decisions (environment_id, entity_key)
  WHERE withdrawn_at IS NULL AND settled_by IS NULL;
CREATE INDEX IF NOT EXISTS held_decisions_by_settlement ON held_decisions (settled_by) WHERE settled_by IS NOT NULL;

-- Lists of companies. A list belongs to one pair of providers.
CREATE TABLE IF NOT EXISTS portfolios (
  id              INTEGER PRIMARY KEY,
  name            TEXT NOT NULL,
  providers       TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  -- The newest file: its key, path, header and time.
  input_key       TEXT,
  input_path      TEXT NOT NULL,
  columns         TEXT NOT NULL,
  seen_at         INTEGER NOT NULL,
  -- The last attempt that ended normally: its run finished, or nothing was due.
  last_success_at INTEGER,
  -- When and why the last attempt was refused before it began. Null: a later one was not refused.
  refused_at      INTEGER,
  refused_code    TEXT,
  -- JSON: the agreed meaning of the columns by name, and when it was agreed.
  agreed_columns  TEXT,
  -- 1: its pipeline needed a second person for a confirmation at the last run.
  second_person   INTEGER NOT NULL DEFAULT 0 CHECK (second_person IN (0, 1)),
  UNIQUE (name, providers)
) STRICT;

-- The lines of a list, recognised from file to file. Their cells are in the row that they use.
CREATE TABLE IF NOT EXISTS members (
  id           INTEGER PRIMARY KEY,
  portfolio_id INTEGER NOT NULL REFERENCES portfolios (id),
  -- The user's own ID, otherwise the company, otherwise the position.
  known_by     TEXT NOT NULL,
  -- The company, and its number among equal lines. Null: not identified.
  company      TEXT,
  -- Digests of the searched fields, and of all cells.
  says         BLOB NOT NULL,
  cells        BLOB NOT NULL,
  -- Its position in the newest file.
  row          INTEGER NOT NULL,
  line         INTEGER NOT NULL,
  first_seen   INTEGER NOT NULL,
  -- Null: it is in the list.
  last_seen    INTEGER,
  left_at      INTEGER,
  -- When the provider's watch reported a change.
  changed_at   INTEGER,
  -- The row with its last outcome, or its first row in progress.
  run_id       TEXT NOT NULL,
  run_row      INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS members_by_company ON members (portfolio_id, company);
CREATE UNIQUE INDEX IF NOT EXISTS members_by_key ON members (portfolio_id, known_by);
CREATE INDEX IF NOT EXISTS members_by_place ON members (run_id, run_row);
CREATE INDEX IF NOT EXISTS members_by_row ON members (portfolio_id, row) WHERE left_at IS NULL;
-- SQLite alone: without an index it reads all members to find the few that left.
CREATE INDEX IF NOT EXISTS members_left ON members (id) WHERE left_at IS NOT NULL;

-- The company of each member in each ID space, and since when. Earlier changes are not the member's. The record outlives
-- the row while a person decides, so that no change is shown under an old number later.
CREATE TABLE IF NOT EXISTS member_companies (
  member_id      INTEGER NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  space          TEXT NOT NULL,
  id             TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  -- Answers after this time count.
  known_since    INTEGER NOT NULL,
  -- When the line changed, or a person rejected the company. Null: it still is.
  gone_at        INTEGER,
  PRIMARY KEY (member_id, space)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS member_companies_by_id ON member_companies (space, id);

-- Times in which a member was not in the list, or not known to be its company. Changes in them are not the member's.
CREATE TABLE IF NOT EXISTS absences (
  member_id INTEGER NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  -- Empty: the list itself.
  space     TEXT NOT NULL DEFAULT '',
  left_at   INTEGER NOT NULL,
  back_at   INTEGER NOT NULL,
  PRIMARY KEY (member_id, space, left_at)
) STRICT, WITHOUT ROWID;

-- Differences between a new answer about a company and the one before. They can be computed again from the answers.
CREATE TABLE IF NOT EXISTS changes (
  -- Never reused: readers ask for changes after the last one they read.
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The call with the new answer.
  call_id        INTEGER NOT NULL UNIQUE,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  subject_space  TEXT NOT NULL,
  subject_id     TEXT NOT NULL,
  run_id         TEXT,
  changed_at     INTEGER NOT NULL,
  noted_at       INTEGER NOT NULL,
  old_sha256     BLOB NOT NULL,
  new_sha256     BLOB NOT NULL,
  -- JSON: items that were added, removed or changed.
  items          TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS changes_by_subject ON changes (subject_space, subject_id);
CREATE INDEX IF NOT EXISTS changes_by_time ON changes (changed_at, call_id);

-- Companies on the provider's watch, by v2 ID.
CREATE TABLE IF NOT EXISTS watches (
  id             INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  company_id     TEXT NOT NULL,
  -- JSON: the requested fields. Null: those of the account.
  fields         TEXT,
  -- 0: it was watched before, and is never removed by us.
  ours           INTEGER NOT NULL,
  asked_at       INTEGER NOT NULL,
  -- Null: no answer yet.
  registered_at  INTEGER,
  -- When its history was last read.
  read_at        INTEGER,
  -- When a callback named it. Null: its history was read since.
  hinted_at      INTEGER,
  -- When reading its history last failed. Null: it was read since.
  failed_at      INTEGER,
  UNIQUE (environment_id, company_id)
) STRICT;

-- Events of the provider's history. Reading it twice adds nothing.
CREATE TABLE IF NOT EXISTS watch_events (
  id             INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  company_id     TEXT NOT NULL,
  event_type     TEXT,
  status         TEXT,
  message        TEXT,
  date_created   TEXT,
  -- JSON: other fields of the event.
  extra          TEXT,
  -- Of all fields.
  digest         BLOB NOT NULL,
  heard_at       INTEGER NOT NULL,
  raw_sha256     BLOB NOT NULL,
  -- The run that read it. Null: read by a command.
  run_id         TEXT,
  UNIQUE (environment_id, company_id, digest)
) STRICT;

-- Erasures that are not proved yet: the digest of the request, and counts without names.
CREATE TABLE IF NOT EXISTS purges (
  request  BLOB PRIMARY KEY,
  -- JSON: counts and runs.
  report   TEXT NOT NULL,
  begun_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Not used any more: times that were ahead of the clock when the ledger was opened.
CREATE TABLE IF NOT EXISTS clock_ahead (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  -- By that clock.
  found_at     INTEGER NOT NULL,
  latest_at    INTEGER NOT NULL,
  answers      INTEGER NOT NULL,
  -- The last such call.
  last_call_id INTEGER NOT NULL
) STRICT;
