-- The rows are the queue. Before, pg-boss had jobs of rows in the schema kybatch_jobs. A new ledger has the columns already.
ALTER TABLE runs ADD COLUMN IF NOT EXISTS led_by bigint, ADD COLUMN IF NOT EXISTS resume_at bigint;
ALTER TABLE rows ADD COLUMN IF NOT EXISTS claimed_by bigint;
CREATE INDEX IF NOT EXISTS rows_claimed ON rows (run_id, claimed_by) WHERE claimed_by IS NOT NULL;

-- Finds the next rows of a run. SQLite reads their order once for each attempt, and needs no index.
CREATE INDEX rows_to_claim ON rows (run_id, rank, row)
  WHERE outcome = 'pending' AND hold IS NULL AND claimed_by IS NULL;

-- Rows that have begun come first.
UPDATE rows SET rank = -1 WHERE outcome = 'pending' AND units_charged > 0 AND rank >= 0;

-- Workers continue with the runs that had a queue. Their rows are in the ledger.
UPDATE runs SET led_by = start_id,
  resume_at = (SELECT min(next_at) FROM rows WHERE rows.run_id = runs.id AND hold = 'parked')
FROM run_queues WHERE run_queues.run_id = runs.id;
DROP TABLE run_queues, held_jobs;

-- Only pg-boss's own tables. A role that may not drop them leaves them: kybatch no longer uses them.
DO $drop$
BEGIN
  IF to_regclass('kybatch_jobs.job') IS NOT NULL AND to_regclass('kybatch_jobs.queue') IS NOT NULL THEN
    DROP SCHEMA kybatch_jobs CASCADE;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  NULL;
END
$drop$;
