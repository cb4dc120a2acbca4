-- When a start on the list last came to its end by itself: its run finished, or nothing was due.
ALTER TABLE portfolios ADD COLUMN last_success_at INTEGER;
