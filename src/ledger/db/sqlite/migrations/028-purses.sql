-- Several processes may work on one run: each has a start of its own, and spends what the start was given that began the run.
ALTER TABLE starts ADD COLUMN purse_id INTEGER;
-- Which process it is, for people: the machine and the number of the process.
ALTER TABLE starts ADD COLUMN worker TEXT;
CREATE INDEX starts_by_purse ON starts (purse_id) WHERE purse_id IS NOT NULL;
