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

-- What is in question when the table is made: the newest answer that the stage was given.
INSERT OR IGNORE INTO verdicts (space, id, environment_id, request_key, raw_sha256, entity_key)
SELECT row_ids.space, row_ids.id, calls.environment_id, calls.request_key, calls.raw_sha256, questions.entity_key
FROM questions
JOIN rows ON rows.run_id = questions.run_id AND rows.row = questions.row AND rows.outcome = 'needs_review'
JOIN row_ids ON row_ids.run_id = questions.run_id AND row_ids.row = questions.row
  AND row_ids.space = iif(questions.space = 'ownership', 'v2', questions.space)
JOIN calls ON calls.id = (
  SELECT max(asked.id) FROM calls AS asked
  WHERE asked.run_id = questions.run_id AND asked.row = questions.row AND asked.stage = questions.stage
    AND asked.operation IN ('fullKyb', 'liteKyb', 'kybLite', 'companyProfile', 'insightsProfile', 'ownership')
    AND asked.raw_sha256 IS NOT NULL AND asked.error_code IS NULL)
WHERE questions.stage <> '' AND questions.answered = 0;
