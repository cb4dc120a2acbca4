-- A list whose pipeline has a confirmation wait until a second person has agreed: as it was run last.
ALTER TABLE portfolios ADD COLUMN second_person INTEGER NOT NULL DEFAULT 0 CHECK (second_person IN (0, 1));

-- Who agreed with whom has decided, and what was decided by one rule at once.
ALTER TABLE decisions ADD COLUMN second_by TEXT;
ALTER TABLE decisions ADD COLUMN batch TEXT;
CREATE INDEX decisions_by_batch ON decisions (batch) WHERE batch IS NOT NULL;

-- What one person has said where two are needed. It is nobody's decision yet, and so in a table of its own: whatever reads
-- decisions cannot take it for one. Both tables are numbered together.
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
CREATE INDEX held_decisions_by_entity ON held_decisions (environment_id, entity_key) WHERE withdrawn_at IS NULL AND settled_by IS NULL;
