-- Calls carry what was declared about their operation, so that no statement has to know operations by name: what they
-- are metered by, and which company or report they are about.

-- A worker on the ledger. An open intent belongs to a start and is leased with it; the number of a start fences what it
-- settles. Its counters are what its budget is held against.
CREATE TABLE starts (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id        TEXT,
  begun_at      INTEGER NOT NULL,
  lease_until   INTEGER NOT NULL,
  ended_at      INTEGER,
  units_spent   INTEGER NOT NULL DEFAULT 0,
  reports_spent INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE new_calls (
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
) STRICT;
INSERT INTO new_calls
  SELECT calls.id, NULL, environment_id, run_id, row, stage, operation,
    CASE
      WHEN api = 'v1' THEN 'unit'
      WHEN operation IN ('creditReportGenerate', 'creditReportCombined') THEN 'report'
      WHEN operation IN ('creditReportStatus', 'creditReportFetch', 'creditReportHistory', 'metrics', 'metricsContacts', 'nomenclature') THEN 'free'
      ELSE 'not_told'
    END,
    CASE
      WHEN params ->> 'report_id' IS NOT NULL THEN 'report'
      WHEN params ->> 'source_id' IS NOT NULL THEN 'credit'
      WHEN params ->> 'id' IS NULL THEN NULL
      WHEN operation = 'companyProfile' THEN 'companies'
      WHEN operation = 'insightsProfile' THEN 'insights'
      WHEN operation = 'employeeProfile' THEN NULL
      ELSE api
    END,
    CASE WHEN operation = 'employeeProfile' THEN NULL
      ELSE CAST(coalesce(params ->> 'report_id', params ->> 'source_id', params ->> 'id') AS TEXT) END,
    request_key, attempt, started_at, settled_at, duration_ms, http_status, error_class, error_code, request_id, charge,
    units_charged,
    -- Only where nothing came back, or where repeating costs a report.
    coalesce(charge = 'unknown' AND (http_status IS NULL OR operation IN ('creditReportGenerate', 'creditReportCombined')), 0), reconciled, remaining_units, raw_sha256, params
  FROM calls JOIN environments ON environments.id = environment_id;
DROP TABLE calls;
ALTER TABLE new_calls RENAME TO calls;
-- Open intents are few: whether the same request is in flight, and what else is.
CREATE INDEX calls_in_flight ON calls (environment_id, request_key, meter, start_id) WHERE settled_at IS NULL;
CREATE INDEX calls_in_doubt ON calls (environment_id, request_key) WHERE in_doubt = 1;
CREATE INDEX calls_unknown ON calls (environment_id) WHERE charge = 'unknown';
CREATE INDEX calls_by_row ON calls (run_id, row);
-- What we own about a company, whoever bought it.
CREATE INDEX calls_by_subject ON calls (subject_space, subject_id) WHERE params IS NOT NULL AND subject_id IS NOT NULL;

ALTER TABLE allowances ADD COLUMN available INTEGER;
UPDATE allowances SET available = max(coalesce(remaining_units, 0), coalesce(daily_remaining, 0)) WHERE remaining_units IS NOT NULL;

-- The provider refuses an operation, or all of an API (operation NULL), to the starts there were then. Later ones try again.
CREATE TABLE closures (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  operation      TEXT,
  reason         TEXT NOT NULL CHECK (reason IN ('allowance', 'scope')),
  until          INTEGER,
  message        TEXT NOT NULL,
  closed_at      INTEGER NOT NULL,
  last_start_id  INTEGER NOT NULL
) STRICT;
CREATE INDEX closures_by_environment ON closures (environment_id, last_start_id);

-- Where the answers of a run come from.
CREATE TABLE run_environments (
  run_id         TEXT NOT NULL,
  api            TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  PRIMARY KEY (run_id, api)
) STRICT, WITHOUT ROWID;
INSERT INTO run_environments
  SELECT run_id, api, min(environment_id) FROM calls JOIN environments ON environments.id = environment_id
  WHERE run_id IS NOT NULL GROUP BY run_id, api;

-- The IDs of a row, by ID space.
CREATE TABLE row_ids (
  run_id     TEXT NOT NULL,
  row        INTEGER NOT NULL,
  space      TEXT NOT NULL,
  id         TEXT NOT NULL,
  grade      TEXT,
  matched_on TEXT,
  PRIMARY KEY (run_id, row, space)
) STRICT, WITHOUT ROWID;
INSERT INTO row_ids SELECT run_id, row, 'v1', v1_company_id, match_grade, matched_on FROM rows WHERE v1_company_id IS NOT NULL;
INSERT INTO row_ids
  SELECT run_id, row, 'v2', v2_company_id, iif(v1_company_id IS NULL, match_grade, NULL), iif(v1_company_id IS NULL, matched_on, NULL)
  FROM rows WHERE v2_company_id IS NOT NULL;
INSERT INTO row_ids SELECT run_id, row, 'credit', credit_source_id, NULL, NULL FROM rows WHERE credit_source_id IS NOT NULL;
INSERT INTO row_ids SELECT run_id, row, 'report', credit_report_id, NULL, NULL FROM rows WHERE credit_report_id IS NOT NULL;

CREATE TABLE new_rows (
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
  updated_at       INTEGER,
  PRIMARY KEY (run_id, row)
) STRICT, WITHOUT ROWID;
INSERT INTO new_rows
  SELECT run_id, row, line, input_values, fields, outcome, hold, hold_reason, next_at, stage, stages, match_grade, matched_on,
    units_charged, error_code, error_message, updated_at
  FROM rows;
DROP TABLE rows;
ALTER TABLE new_rows RENAME TO rows;
CREATE INDEX rows_waiting ON rows (run_id, next_at) WHERE hold = 'waiting';

ALTER TABLE candidates RENAME COLUMN api TO space;
ALTER TABLE candidates ADD COLUMN jurisdiction TEXT;

-- A question is about an ID space: which company is meant there, or (stage) whether an answer is about it.
CREATE TABLE new_questions (
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
  asked_at       INTEGER NOT NULL,
  PRIMARY KEY (run_id, row, space, stage)
) STRICT, WITHOUT ROWID;
INSERT INTO new_questions
  SELECT run_id, row, iif(about = 'record', 'v1', about), iif(about = 'record', 'record', ''), environment_id, entity_key,
    candidate_id, code, message, answered, asked_at
  FROM questions;
DROP TABLE questions;
ALTER TABLE new_questions RENAME TO questions;
CREATE INDEX questions_by_entity ON questions (environment_id, entity_key);

ALTER TABLE decisions RENAME COLUMN about TO space;
ALTER TABLE decisions ADD COLUMN stage TEXT NOT NULL DEFAULT '';
UPDATE decisions SET space = 'v1', stage = 'record' WHERE space = 'record';
