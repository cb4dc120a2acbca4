-- A question that another pipeline has asked than the one by which its row stands: it waits until that is run again.
ALTER TABLE questions ADD COLUMN beside INTEGER NOT NULL DEFAULT 0 CHECK (beside IN (0, 1));
CREATE INDEX questions_beside ON questions (run_id, row) WHERE beside = 1;
