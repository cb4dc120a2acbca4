-- The rows are the queue of several workers (docs/decisions/rows-are-the-queue.md).
ALTER TABLE runs ADD COLUMN led_by INTEGER;
ALTER TABLE runs ADD COLUMN resume_at INTEGER;
ALTER TABLE rows ADD COLUMN claimed_by INTEGER;
CREATE INDEX rows_claimed ON rows (run_id, claimed_by) WHERE claimed_by IS NOT NULL;
