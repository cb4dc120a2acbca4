-- What came of comparing an answer, which says whose it is, with the company that was confirmed: '' where it is the
-- company's; otherwise the question that a person is asked about it. Nothing of it is shown that is not the company's, or was
-- accepted by a person whose word stands: in whatever list, and whoever bought it.
CREATE TABLE verdicts (
  space TEXT NOT NULL,
  id TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  request_key BLOB NOT NULL,
  raw_sha256 BLOB NOT NULL,
  entity_key TEXT NOT NULL,
  PRIMARY KEY (space, id, environment_id, request_key, raw_sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX verdicts_by_request ON verdicts (environment_id, request_key);

-- What was asked before the table was made: the newest answer by then. What was not asked about was the company's.
INSERT OR IGNORE INTO verdicts (space, id, environment_id, request_key, raw_sha256, entity_key)
SELECT coalesce(company.space, questions.space), coalesce(company.id, questions.candidate_id), calls.environment_id, calls.request_key,
  calls.raw_sha256, questions.entity_key
FROM questions
LEFT JOIN row_ids AS company ON questions.space = 'ownership' AND company.run_id = questions.run_id AND company.row = questions.row
  AND company.space = 'v2'
JOIN calls ON calls.id = (
  SELECT max(asked.id) FROM calls AS asked INDEXED BY calls_by_subject
  WHERE asked.subject_space = questions.space AND asked.subject_id = questions.candidate_id AND asked.subject_id IS NOT NULL
    AND asked.params IS NOT NULL AND asked.environment_id = questions.environment_id AND asked.stage = questions.stage
    AND asked.operation IN ('fullKyb', 'liteKyb', 'kybLite', 'companyProfile', 'insightsProfile', 'ownership')
    AND asked.raw_sha256 IS NOT NULL AND asked.error_code IS NULL AND asked.charge <> 'owned' AND asked.settled_at <= questions.asked_at)
WHERE questions.stage <> '' AND questions.candidate_id IS NOT NULL;
