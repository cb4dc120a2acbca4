-- What a start was given to spend (JSON), for whoever goes on with its run.
ALTER TABLE starts ADD COLUMN given TEXT;
-- 1 where it did not end by itself: somebody else has found it dead.
ALTER TABLE starts ADD COLUMN died INTEGER NOT NULL DEFAULT 0;
-- A row that waits because its report may have been lost: until when it is looked for in the history.
ALTER TABLE rows ADD COLUMN look_until INTEGER;
