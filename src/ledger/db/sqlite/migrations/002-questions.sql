-- What a row asked people about one of its identities. `answered` is 0 where the row ended with the question, 1 where
-- a remembered decision let it go on: a withdrawn decision finds the rows that rest on it here.
CREATE TABLE questions (
  run_id         TEXT NOT NULL,
  row            INTEGER NOT NULL,
  about          TEXT NOT NULL CHECK (about IN ('v1', 'v2', 'credit', 'record')),
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  entity_key     TEXT NOT NULL,
  -- The only candidate that can be confirmed, where the question is about one.
  candidate_id   TEXT,
  code           TEXT NOT NULL,
  message        TEXT NOT NULL,
  answered       INTEGER NOT NULL CHECK (answered IN (0, 1)),
  asked_at       INTEGER NOT NULL,
  PRIMARY KEY (run_id, row, about)
) STRICT, WITHOUT ROWID;
CREATE INDEX questions_by_entity ON questions (environment_id, entity_key);

ALTER TABLE decisions ADD COLUMN about TEXT NOT NULL DEFAULT 'v1';
-- JSON: the candidates that the person saw. `none_of_these` says nothing about others.
ALTER TABLE decisions ADD COLUMN shown TEXT NOT NULL DEFAULT '[]';
-- What was decided, in words.
ALTER TABLE decisions ADD COLUMN summary TEXT NOT NULL DEFAULT '';
ALTER TABLE decisions ADD COLUMN withdrawn_by TEXT;
