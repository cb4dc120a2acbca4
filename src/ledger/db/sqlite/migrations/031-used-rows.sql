-- What the page counts again and again (docs/developers/performance.md).
CREATE INDEX members_left ON members (id) WHERE left_at IS NOT NULL;
DROP INDEX rows_counted;
CREATE INDEX rows_counted ON rows (run_id, outcome, hold, hold_reason, stages, error_code, stage, updated_at, units_charged, member_id, next_at, look_until);
