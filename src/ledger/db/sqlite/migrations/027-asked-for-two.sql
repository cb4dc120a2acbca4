-- A question that was asked by a run whose pipeline has a confirmation wait for a second person: so it stays, whatever is run since.
ALTER TABLE questions ADD COLUMN second_person INTEGER NOT NULL DEFAULT 0 CHECK (second_person IN (0, 1));
UPDATE questions SET second_person = 1
  WHERE run_id IN (SELECT runs.id FROM runs JOIN portfolios ON portfolios.id = runs.portfolio_id WHERE portfolios.second_person = 1);

-- With a decision of two people, what the first of them had said.
CREATE INDEX held_decisions_by_settlement ON held_decisions (settled_by) WHERE settled_by IS NOT NULL;
