-- From the schema of kybatch 0.1, which was 3. First its changed tables are renamed. At the line of dashes open.ts makes
-- the tables of schema.sql. Then they are filled. `environments`, `bodies`, `answers` and `errors` stay as they are.
DROP INDEX runs_by_input;
DROP INDEX rows_waiting;
DROP INDEX calls_in_doubt;
DROP INDEX calls_by_row;
DROP INDEX questions_by_entity;
DROP INDEX decisions_by_entity;
ALTER TABLE runs RENAME TO old_runs;
ALTER TABLE rows RENAME TO old_rows;
ALTER TABLE calls RENAME TO old_calls;
ALTER TABLE allowances RENAME TO old_allowances;
ALTER TABLE candidates RENAME TO old_candidates;
ALTER TABLE questions RENAME TO old_questions;
ALTER TABLE decisions RENAME TO old_decisions;
-- --------

-- 0.1 stored a provider once for each spelling of its base URL. base_url() gives the one spelling, and the oldest record
-- is kept.
CREATE TABLE spellings AS
  SELECT id, min(id) OVER same AS kept, base_url(name) AS name, count(*) OVER same AS spellings
  FROM environments WINDOW same AS (PARTITION BY api, base_url(name));

INSERT INTO calls (id, environment_id, run_id, row, stage, operation, meter, subject_space, subject_id, request_key, attempt,
    started_at, settled_at, duration_ms, http_status, error_class, error_code, request_id, charge, units_charged, in_doubt,
    reconciled, remaining_units, raw_sha256, params)
  SELECT old.id, kept, run_id, row, stage, operation,
    CASE
      WHEN api = 'v1' THEN 'unit'
      WHEN operation IN ('creditReportGenerate', 'creditReportCombined') THEN 'report'
      WHEN operation IN ('creditReportStatus', 'creditReportFetch', 'creditReportHistory', 'metrics', 'metricsContacts',
        'nomenclature') THEN 'free'
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
    iif(operation = 'employeeProfile', NULL,
      CAST(coalesce(params ->> 'report_id', params ->> 'source_id', params ->> 'id') AS TEXT)),
    request_key, attempt, started_at, settled_at, duration_ms, http_status, error_class, error_code, request_id, charge,
    units_charged,
    -- Only without any response, or if repeating it costs a report.
    coalesce(charge = 'unknown'
      AND (http_status IS NULL OR operation IN ('creditReportGenerate', 'creditReportCombined')), 0),
    reconciled, remaining_units, raw_sha256, params
  FROM old_calls AS old JOIN environments ON environments.id = environment_id JOIN spellings ON spellings.id = environment_id;

-- Of two answers to one request the newer one is used.
INSERT INTO answers
  SELECT kept, request_key, max(call_id) FROM answers JOIN spellings ON spellings.id = environment_id
  WHERE kept <> environment_id GROUP BY 1, 2
  ON CONFLICT (environment_id, request_key) DO UPDATE SET call_id = max(call_id, excluded.call_id);
DELETE FROM answers WHERE environment_id IN (SELECT id FROM spellings WHERE id <> kept);

-- The newest report counts. With several spellings no anchor is right: each counted the units of the other as foreign.
INSERT INTO allowances
  SELECT kept, max(observed_at), remaining_units, daily_limit, daily_remaining, reset_at, raw, spent_until,
    iif(spellings = 1, anchor_call_id, NULL), iif(spellings = 1, anchor_units, NULL), iif(spellings = 1, drift_units, 0),
    iif(remaining_units IS NULL, NULL, max(coalesce(remaining_units, 0), coalesce(daily_remaining, 0)))
  FROM old_allowances JOIN spellings ON spellings.id = environment_id GROUP BY kept;

INSERT INTO runs (id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, state, row_count, created_at,
    finished_at)
  SELECT * FROM old_runs ORDER BY rowid;
INSERT INTO run_environments
  SELECT run_id, api, min(environment_id) FROM calls JOIN environments ON environments.id = environment_id
  WHERE run_id IS NOT NULL GROUP BY run_id, api;
INSERT INTO rows (run_id, row, line, input_values, fields, outcome, hold, hold_reason, next_at, stage, stages, match_grade,
    matched_on, units_charged, error_code, error_message, updated_at)
  SELECT run_id, row, line, input_values, fields, outcome, hold, hold_reason, next_at, stage, stages, match_grade, matched_on,
    units_charged, error_code, error_message, updated_at
  FROM old_rows;
INSERT INTO row_ids
  SELECT run_id, row, 'v1', v1_company_id, match_grade, matched_on FROM old_rows WHERE v1_company_id IS NOT NULL
  UNION ALL
  SELECT run_id, row, 'v2', v2_company_id, iif(v1_company_id IS NULL, match_grade, NULL),
    iif(v1_company_id IS NULL, matched_on, NULL)
  FROM old_rows WHERE v2_company_id IS NOT NULL
  UNION ALL
  SELECT run_id, row, 'credit', credit_source_id, NULL, NULL FROM old_rows WHERE credit_source_id IS NOT NULL
  UNION ALL
  SELECT run_id, row, 'report', credit_report_id, NULL, NULL FROM old_rows WHERE credit_report_id IS NOT NULL;
INSERT INTO candidates (run_id, row, space, position, id, name, registration_number, vat_number, country_code, state,
    match_grade, decision, evidence)
  SELECT * FROM old_candidates;

INSERT INTO questions (run_id, row, space, stage, environment_id, entity_key, candidate_id, code, message, answered, asked_at)
  SELECT run_id, row, iif(about = 'record', 'v1', about), iif(about = 'record', 'record', ''), kept, entity_key, candidate_id,
    code, message, answered, asked_at
  FROM old_questions JOIN spellings ON spellings.id = environment_id;
INSERT INTO decisions (id, environment_id, entity_key, decision, candidate_id, decided_by, decided_at, note, withdrawn_at, space,
    shown, summary, withdrawn_by, stage)
  SELECT old.id, kept, entity_key, decision, candidate_id, decided_by, decided_at, note, withdrawn_at,
    iif(about = 'record', 'v1', about), shown, summary, withdrawn_by, iif(about = 'record', 'record', '')
  FROM old_decisions AS old JOIN spellings ON spellings.id = environment_id;
-- The newest answer when the question was asked. An answer without a question was the company's.
INSERT OR IGNORE INTO verdicts
  SELECT questions.space, questions.candidate_id, calls.environment_id, calls.request_key, calls.raw_sha256, entity_key
  FROM questions JOIN calls ON calls.id = (
    SELECT max(asked.id) FROM calls AS asked INDEXED BY calls_by_subject
    WHERE asked.subject_space = questions.space AND asked.subject_id = questions.candidate_id AND asked.subject_id IS NOT NULL
      AND asked.params IS NOT NULL AND asked.environment_id = questions.environment_id AND asked.stage = questions.stage
      AND asked.operation IN ('fullKyb', 'liteKyb') AND asked.raw_sha256 IS NOT NULL AND asked.error_code IS NULL
      AND asked.charge <> 'owned' AND asked.settled_at <= questions.asked_at)
  WHERE questions.stage <> '' AND questions.candidate_id IS NOT NULL;

DROP TABLE old_rows;
DROP TABLE old_runs;
DROP TABLE old_calls;
DROP TABLE old_allowances;
DROP TABLE old_candidates;
DROP TABLE old_questions;
DROP TABLE old_decisions;
DELETE FROM environments WHERE id IN (SELECT id FROM spellings WHERE id <> kept);
UPDATE environments SET name = (SELECT name FROM spellings WHERE spellings.id = environments.id);
DROP TABLE spellings;
