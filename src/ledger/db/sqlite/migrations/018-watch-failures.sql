-- When the history of a watched company was last asked for in vain; null: it has come since. Who failed is asked about last.
ALTER TABLE watches ADD COLUMN failed_at INTEGER;
