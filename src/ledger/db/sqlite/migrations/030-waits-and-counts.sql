-- Where the row of a lost call waits.
ALTER TABLE calls ADD COLUMN waits_run TEXT;
ALTER TABLE calls ADD COLUMN waits_row INTEGER;
-- What the page counts again and again (docs/developers/performance.md).
CREATE INDEX rows_counted ON rows (run_id, outcome, hold, hold_reason, stages, error_code, updated_at, units_charged, member_id, next_at, look_until);
CREATE INDEX calls_reconciled ON calls (environment_id) WHERE reconciled IS NOT NULL;
